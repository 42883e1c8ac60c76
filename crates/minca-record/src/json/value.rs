//! A JSON value.

use super::{Object, Text};

/// The greatest whole number the protocol counts with, 2^53 − 1.
pub const GREATEST_WHOLE_NUMBER: u64 = (1 << 53) - 1;

/// A JSON value. Two are equal exactly when their canonical forms are (so `-0` is `0`).
///
/// Numbers are IEEE 754 binary64, as everywhere in the protocol, and finite: the reader makes no
/// other. (One made in code that isn't is written as `null`, as ECMAScript does.)
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, finite.
    Number(f64),
    /// A string.
    String(Text),
    /// An array.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
}

impl Value {
    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The boolean it is.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number it is.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// The string it is, unless that holds a lone surrogate.
    pub fn as_str(&self) -> Option<&str> {
        self.as_text()?.as_str()
    }

    /// The string it is.
    pub fn as_text(&self) -> Option<&Text> {
        match self {
            Value::String(value) => Some(value),
            _ => None,
        }
    }

    /// The elements of the array it is.
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Value::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// The object it is.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The object it is, to change.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The object it is, taken out.
    pub fn into_object(self) -> Option<Object> {
        match self {
            Value::Object(object) => Some(object),
            _ => None,
        }
    }

    /// The whole number it is, when it is one from 0 to 2^53 − 1, however it was written (`1.0`
    /// and `1e0` are 1).
    pub fn whole_number(&self) -> Option<u64> {
        let number = self.as_f64()?;
        let fits =
            (0.0..=GREATEST_WHOLE_NUMBER as f64).contains(&number) && number.trunc() == number;
        fits.then_some(number as u64)
    }

    /// Levels of arrays and objects: 0 for a scalar, and each array or object one more than the
    /// deepest of what it holds (02 §10).
    pub fn depth(&self) -> usize {
        match self {
            Value::Array(elements) => 1 + elements.iter().map(Value::depth).max().unwrap_or(0),
            Value::Object(object) => object.depth(),
            _ => 0,
        }
    }
}

impl Object {
    /// As [`Value::depth`]: 1 for an object that holds no array and no object.
    pub fn depth(&self) -> usize {
        1 + self
            .iter()
            .map(|(_, value)| value.depth())
            .max()
            .unwrap_or(0)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<u32> for Value {
    fn from(value: u32) -> Value {
        Value::Number(f64::from(value))
    }
}

impl From<u64> for Value {
    /// Rounded to the nearest binary64, which is exact up to 2^53.
    fn from(value: u64) -> Value {
        Value::Number(value as f64)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Value {
        Value::String(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Value {
        Value::String(value.into())
    }
}

impl From<Text> for Value {
    fn from(value: Text) -> Value {
        Value::String(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Value>) -> Value {
        Value::Array(value)
    }
}

impl From<Object> for Value {
    fn from(value: Object) -> Value {
        Value::Object(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_those_from_0_to_2_to_the_53_less_1() {
        let whole = |number: f64| Value::Number(number).whole_number();
        assert_eq!(whole(0.0), Some(0));
        assert_eq!(whole(-0.0), Some(0));
        assert_eq!(whole(1.0), Some(1));
        assert_eq!(whole(9_007_199_254_740_991.0), Some(GREATEST_WHOLE_NUMBER));
        assert_eq!(whole(9_007_199_254_740_992.0), None);
        assert_eq!(whole(-1.0), None);
        assert_eq!(whole(0.5), None);
        assert_eq!(whole(f64::NAN), None);
        assert_eq!(whole(f64::INFINITY), None);
        assert_eq!(Value::from("1").whole_number(), None);
    }

    #[test]
    fn depth_counts_arrays_and_objects() {
        assert_eq!(Value::Null.depth(), 0);
        assert_eq!(Value::Array(vec![]).depth(), 1);
        assert_eq!(Value::from(Object::new()).depth(), 1);
        let inner = Value::from(Object::from([("a", Value::Array(vec![Value::Null]))]));
        assert_eq!(inner.depth(), 2);
        assert_eq!(
            Value::Array(vec![Value::Null, inner, Value::Null]).depth(),
            3
        );
    }
}
