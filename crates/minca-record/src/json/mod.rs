//! JSON as the protocol has it (02 §1): values that hold lone surrogates, a reader that never
//! recurses, and the canonical form every hash and signature is over.

mod number;
mod object;
mod read;
mod scan;
mod text;
mod value;
mod write;

pub use object::Object;
pub use read::{GREATEST_DEPTH, MESSAGE_DEPTH, ReadError, ReadErrorKind, read};
pub use text::Text;
pub use value::{GREATEST_WHOLE_NUMBER, Value};
