//! Where entries live: one trait, one conformance suite, SQLite behind it.
