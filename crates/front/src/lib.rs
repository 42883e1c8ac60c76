//! Sockets: upgrade, handshake, framing, byte and rate counting, heartbeats, drain.
