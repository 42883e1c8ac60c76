//! Command paths: `/record/write` and what covers it (01 §7.3).

use crate::json::Text;

/// The longest a command path may be, in Unicode code points.
pub const GREATEST_COMMAND_LENGTH: usize = 200;

/// Whether `text` is a command path: `/`, or segments each written after a `/`, none of them
/// empty and none with an upper-case ASCII letter, a space or a control character.
pub fn is_command(text: &Text) -> bool {
    let bytes = text.as_wtf8();
    if text.code_points() > GREATEST_COMMAND_LENGTH {
        return false;
    }
    if bytes == b"/" {
        return true;
    }
    let Some(segments) = bytes.strip_prefix(b"/") else {
        return false;
    };
    segments.split(|&byte| byte == b'/').all(is_segment)
}

fn is_segment(segment: &[u8]) -> bool {
    let allowed = |byte: &u8| !matches!(byte, 0..=0x20 | 0x7F | b'A'..=b'Z');
    !segment.is_empty() && segment.iter().all(allowed)
}

/// Whether whoever may do `granted` may do `command`: it is `/`, the same path or one above it.
pub fn covers(granted: &Text, command: &str) -> bool {
    if granted == "/" {
        return true;
    }
    match command.as_bytes().strip_prefix(granted.as_wtf8()) {
        Some(rest) => rest.is_empty() || rest.starts_with(b"/"),
        None => false,
    }
}
