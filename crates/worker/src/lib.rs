//! Engines and what drives them.
