//! Where what a replay came to isn't what a case expects.

use std::fmt;

use minca_record::json::{Object, Value};

/// Members of an event's status that only inform people.
const INFORMING: [&str; 3] = ["why", "by", "rests"];

/// A place in `expect` at which something else came.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The place, as `/status/<id>/status`.
    pub at: String,
    /// What was expected there; `None` for nothing.
    pub expected: Option<Value>,
    /// What came.
    pub came: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { at, expected, came } = self;
        write!(
            f,
            "{at}: expected {}, came {}",
            words(expected),
            words(came)
        )
    }
}

fn words(value: &Option<Value>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(value) => String::from_utf8_lossy(&value.canonical()).into_owned(),
    }
}

/// Where `came` differs from `expected`, in order of the places. What in an event's status
/// only informs people is left out of both.
pub fn differences(expected: &Object, came: &Object) -> Vec<Difference> {
    let mut differences = Vec::new();
    let expected = without_informing(expected.clone());
    let came = without_informing(came.clone());
    compare_objects("", &expected, &came, &mut differences);
    differences
}

fn without_informing(mut expect: Object) -> Object {
    let Some(Value::Object(statuses)) = expect.get("status") else {
        return expect;
    };
    let bare = |status: &Value| match status {
        Value::Object(status) => {
            let mut status = status.clone();
            for name in INFORMING {
                status.remove(name);
            }
            Value::Object(status)
        }
        other => other.clone(),
    };
    let statuses = statuses
        .iter()
        .map(|(id, status)| (id.clone(), bare(status)));
    let statuses: Object = statuses.collect();
    expect.insert("status", statuses);
    expect
}

/// Cases are read to a stated depth, and so is this recursion.
fn compare(at: &str, expected: &Value, came: &Value, differences: &mut Vec<Difference>) {
    match (expected, came) {
        (Value::Object(expected), Value::Object(came)) => {
            compare_objects(at, expected, came, differences);
        }
        _ if expected == came => {}
        _ => differences.push(Difference {
            at: at.to_owned(),
            expected: Some(expected.clone()),
            came: Some(came.clone()),
        }),
    }
}

fn compare_objects(at: &str, expected: &Object, came: &Object, differences: &mut Vec<Difference>) {
    let member = |name: &minca_record::json::Text| {
        format!("{at}/{}", String::from_utf8_lossy(name.as_wtf8()))
    };
    for (name, value) in expected.iter() {
        match came.get_text(name) {
            Some(came) => compare(&member(name), value, came, differences),
            None => differences.push(Difference {
                at: member(name),
                expected: Some(value.clone()),
                came: None,
            }),
        }
    }
    let unexpected = came.iter();
    let unexpected = unexpected.filter(|(name, _)| expected.get_text(name).is_none());
    differences.extend(unexpected.map(|(name, value)| Difference {
        at: member(name),
        expected: None,
        came: Some(value.clone()),
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use minca_record::json::{MESSAGE_DEPTH, read};

    fn object(text: &str) -> Object {
        let value = read(text.as_bytes(), MESSAGE_DEPTH).unwrap();
        value.into_object().unwrap()
    }

    fn told(expected: &str, came: &str) -> Vec<String> {
        let differences = differences(&object(expected), &object(came));
        differences.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_only_informs_is_no_difference_and_everything_else_is() {
        let expected = r#"{"status":{"a":{"status":"dropped","class":"struck","by":["x"]}}}"#;
        let informing = r#"{"status":{"a":{"status":"dropped","class":"struck","rests":"y"}}}"#;
        assert_eq!(told(expected, informing), Vec::<String>::new());
        let other = r#"{"status":{"a":{"status":"applied"}},"by":1}"#;
        assert_eq!(
            told(expected, other),
            [
                r#"/status/a/class: expected "struck", came nothing"#,
                r#"/status/a/status: expected "dropped", came "applied""#,
                "/by: expected nothing, came 1",
            ]
        );
    }

    #[test]
    fn a_status_that_is_no_object_differs_and_breaks_nothing() {
        assert_eq!(
            told(r#"{"status":{"a":1}}"#, r#"{"status":[]}"#),
            [r#"/status: expected {"a":1}, came []"#]
        );
    }
}
