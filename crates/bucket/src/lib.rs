//! Part 05 §16 over object_store: segments out and in.
