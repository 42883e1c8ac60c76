//! `screen` and `network` of a definition (02 §6.1).

use super::MAX_SCREEN;
use crate::json::Value;

const MAX_ORIGINS: usize = 8;
const MAX_PORT_DIGITS: usize = 5;

/// Whether `value` is a screen: a string, not blank, at most 49,152 bytes.
pub(super) fn is_screen(value: &Value) -> bool {
    let Some(text) = value.as_text() else {
        return false;
    };
    // ECMAScript's `trim` takes the byte order mark for white space too.
    let is_blank = |text: &str| text.chars().all(|c| c.is_whitespace() || c == '\u{feff}');
    text.as_wtf8().len() <= MAX_SCREEN && !text.as_str().is_some_and(is_blank)
}

/// Whether `value` is a list of at most 8 distinct origins; without a screen
/// only an empty one.
pub(super) fn is_network(value: &Value, has_screen: bool) -> bool {
    let Some(list) = value.as_array() else {
        return false;
    };
    let is_distinct = |(place, origin): (usize, &Value)| !list[..place].contains(origin);
    list.len() <= MAX_ORIGINS
        && (has_screen || list.is_empty())
        && list
            .iter()
            .all(|origin| origin.as_str().is_some_and(is_origin))
        && list.iter().enumerate().all(is_distinct)
}

/// `^(https|wss)://<label>(\.<label>)+(:[0-9]{1,5})?$`, a label as
/// `[a-z0-9]([a-z0-9-]*[a-z0-9])?`.
fn is_origin(text: &str) -> bool {
    let Some(rest) = text
        .strip_prefix("https://")
        .or_else(|| text.strip_prefix("wss://"))
    else {
        return false;
    };
    let (host, has_good_port) = match rest.split_once(':') {
        None => (rest, true),
        Some((host, port)) => {
            let is_port = (1..=MAX_PORT_DIGITS).contains(&port.len())
                && port.bytes().all(|byte| byte.is_ascii_digit());
            (host, is_port)
        }
    };
    has_good_port && host.contains('.') && host.split('.').all(is_label)
}

fn is_label(label: &str) -> bool {
    label
        .bytes()
        .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        && !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_as_the_pattern_says() {
        for good in ["https://a.example", "wss://a-b.c.d1:65535", "https://1.2:0"] {
            assert!(is_origin(good), "{good}");
        }
        for bad in [
            "http://a.example",
            "https://a",
            "https://a.example/",
            "https://a.example:",
            "https://a.example:123456",
            "https://-a.example",
            "https://a-.example",
            "https://a..example",
            "https://A.example",
            "https://a.example:8 ",
        ] {
            assert!(!is_origin(bad), "{bad}");
        }
    }

    #[test]
    fn eight_distinct_origins_are_a_network_beside_a_screen() {
        let origins = |count: usize| {
            Value::from(
                (0..count)
                    .map(|i| Value::from(format!("https://{i}.example")))
                    .collect::<Vec<_>>(),
            )
        };
        assert!(is_network(&origins(8), true));
        assert!(!is_network(&origins(9), true));
        assert!(!is_network(&origins(1), false));
        assert!(is_network(&origins(0), false));
        let twice = Value::from(vec![
            Value::from("https://a.example"),
            Value::from("https://a.example"),
        ]);
        assert!(!is_network(&twice, true));
    }

    #[test]
    fn a_screen_is_at_most_49152_bytes_and_not_blank() {
        assert!(is_screen(&Value::from("x".repeat(MAX_SCREEN))));
        assert!(!is_screen(&Value::from("x".repeat(MAX_SCREEN + 1))));
        assert!(!is_screen(&Value::from(" \n\u{feff}")));
        assert!(!is_screen(&Value::from("")));
        assert!(!is_screen(&Value::Null));
    }
}
