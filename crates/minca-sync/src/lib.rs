//! Part 05 §2–§8 and the texts of part 04.

pub mod item;
pub mod negentropy;
pub mod sum;
