//! Part 05 §16 over object_store: segments out and in.

mod folder;

pub use folder::{FolderStore, KeyError, OpenFolderError};
