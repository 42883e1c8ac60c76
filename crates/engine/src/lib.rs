//! One space at one host: events in, effects out.
