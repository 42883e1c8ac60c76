//! A client that plays a device.
