//! Part 05 §2–§8 and the texts of part 04.

pub mod files;
pub mod item;
pub mod message;
pub mod negentropy;
pub mod sum;
