//! Request and session ids.

use minca_record::json::Value;

/// The `id` of a request or a session: any JSON number, echoed as it is.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct RequestId(f64);

impl RequestId {
    /// An id from a number; `None` where JSON has no such number.
    pub fn new(number: f64) -> Option<Self> {
        // Adding zero makes −0, which JSON's readers write as 0, into 0.
        number.is_finite().then_some(Self(number + 0.0))
    }

    /// The number.
    pub fn number(self) -> f64 {
        self.0
    }

    pub(super) fn write(self, out: &mut Vec<u8>) {
        Value::Number(self.0).write_canonical(out);
    }
}

impl From<u32> for RequestId {
    fn from(number: u32) -> Self {
        Self(f64::from(number))
    }
}

// Never NaN, and one zero: equality is an equivalence and agrees with the bits.
impl Eq for RequestId {}

impl std::hash::Hash for RequestId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}
