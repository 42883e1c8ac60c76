//! The schema dialect (02 §6.2). Bodies are never validated here: a bad schema
//! only makes its definition invalid.

use crate::json::{Object, Value};
use crate::links::is_rel;

const TYPES: [&str; 7] = [
    "object", "array", "string", "number", "integer", "boolean", "null",
];

/// Whether `value` is a schema: an object with only the dialect's keywords,
/// each as it must be.
pub(super) fn is_schema(value: &Value) -> bool {
    // Bodies nest at most 64 deep (02 §4.6), so this recursion does too.
    let Some(object) = value.as_object() else {
        return false;
    };
    object.iter().all(|(keyword, value)| {
        keyword
            .as_str()
            .is_some_and(|keyword| is_keyword(keyword, value))
    })
}

fn is_keyword(keyword: &str, value: &Value) -> bool {
    match keyword {
        "type" => is_type(value),
        "properties" => value
            .as_object()
            .is_some_and(|object| object.iter().all(|(_, value)| is_schema(value))),
        "items" => is_schema(value),
        "required" => value
            .as_array()
            .is_some_and(|list| list.iter().all(|name| name.as_text().is_some())),
        "enum" => value.as_array().is_some_and(|list| !list.is_empty()),
        "const" => true,
        "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems" => {
            value.as_f64().is_some()
        }
        "additionalProperties" => value.as_bool().is_some(),
        "title" | "description" => value.as_text().is_some(),
        "oneOf" => is_one_of(value),
        "x-choicesFrom" => value.as_object().is_some_and(is_choices_from),
        _ => false,
    }
}

fn is_type(value: &Value) -> bool {
    let is_name = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    match value.as_array() {
        Some(list) => !list.is_empty() && list.iter().all(is_name),
        None => is_name(value),
    }
}

fn is_one_of(value: &Value) -> bool {
    let is_choice = |value: &Value| {
        let Some(object) = value.as_object() else {
            return false;
        };
        let known = |name: Option<&str>| matches!(name, Some("const" | "title" | "description"));
        object.contains("const")
            && object
                .get("title")
                .is_none_or(|title| title.as_text().is_some())
            && object.iter().all(|(name, _)| known(name.as_str()))
    };
    value
        .as_array()
        .is_some_and(|list| !list.is_empty() && list.iter().all(is_choice))
}

fn is_choices_from(object: &Object) -> bool {
    let is_field = |field: &Value| field.as_text().is_some_and(|field| !field.is_empty());
    object.len() == 2
        && object
            .get("rel")
            .and_then(Value::as_str)
            .is_some_and(is_rel)
        && object.get("field").is_some_and(is_field)
}
