//! Whether a request is a well-formed WebSocket handshake (RFC 6455 §4.2.1, 04 §3).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{
    CONNECTION, CONTENT_LENGTH, HeaderName, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION,
    TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version, request};
use tungstenite::handshake::derive_accept_key;

/// Whether the request asks for a WebSocket, well-formed or not.
pub(crate) fn asks_for_websocket(headers: &HeaderMap) -> bool {
    has_token(headers, UPGRADE, "websocket")
}

/// What `Sec-WebSocket-Accept` is to say, or the status that refuses the request.
pub(crate) fn examine(request: &request::Parts) -> Result<HeaderValue, StatusCode> {
    if request.method != Method::GET {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let headers = &request.headers;
    let has_body = headers.contains_key(TRANSFER_ENCODING)
        || headers
            .get(CONTENT_LENGTH)
            .is_some_and(|length| length.as_bytes() != b"0");
    if request.version != Version::HTTP_11 || !has_token(headers, CONNECTION, "upgrade") || has_body
    {
        return Err(StatusCode::BAD_REQUEST);
    }
    let key = only(headers, SEC_WEBSOCKET_KEY).ok_or(StatusCode::BAD_REQUEST)?;
    if !STANDARD.decode(key).is_ok_and(|nonce| nonce.len() == 16) {
        return Err(StatusCode::BAD_REQUEST);
    }
    let version = only(headers, SEC_WEBSOCKET_VERSION).ok_or(StatusCode::BAD_REQUEST)?;
    if version != b"13" {
        return Err(StatusCode::UPGRADE_REQUIRED);
    }
    HeaderValue::from_str(&derive_accept_key(key)).map_err(|_| StatusCode::BAD_REQUEST)
}

/// The value of a header that is there once.
fn only(headers: &HeaderMap, name: HeaderName) -> Option<&[u8]> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    values.next().is_none().then_some(value.as_bytes())
}

fn has_token(headers: &HeaderMap, name: HeaderName, token: &str) -> bool {
    headers
        .get_all(name)
        .iter()
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .any(|entry| entry.trim().eq_ignore_ascii_case(token))
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn request(change: impl FnOnce(&mut request::Parts)) -> request::Parts {
        let (mut parts, ()) = Request::get("/peer")
            .header("upgrade", "websocket")
            .header("connection", "keep-alive, Upgrade")
            .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
            .header("sec-websocket-version", "13")
            .body(())
            .unwrap()
            .into_parts();
        change(&mut parts);
        parts
    }

    #[test]
    fn the_rfcs_example_is_accepted_with_its_answer() {
        assert_eq!(
            examine(&request(|_| {})),
            Ok(HeaderValue::from_static("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
        );
    }

    #[test]
    fn what_is_wrong_decides_the_status() {
        type Change = fn(&mut request::Parts);
        let bad = StatusCode::BAD_REQUEST;
        let cases: [(Change, StatusCode); 10] = [
            (|r| r.method = Method::POST, StatusCode::METHOD_NOT_ALLOWED),
            (|r| r.version = Version::HTTP_10, bad),
            (|r| drop(r.headers.remove("connection")), bad),
            (|r| drop(r.headers.remove("sec-websocket-key")), bad),
            (|r| set(r, "sec-websocket-key", "c2hvcnQ="), bad),
            (
                |r| set(r, "sec-websocket-key", "not base64 at all!!!!"),
                bad,
            ),
            (|r| set(r, "content-length", "5"), bad),
            (|r| set(r, "transfer-encoding", "chunked"), bad),
            (|r| drop(r.headers.remove("sec-websocket-version")), bad),
            (
                |r| set(r, "sec-websocket-version", "8"),
                StatusCode::UPGRADE_REQUIRED,
            ),
        ];
        for (index, (change, status)) in cases.into_iter().enumerate() {
            assert_eq!(examine(&request(change)), Err(status), "case {index}");
        }
    }

    fn set(request: &mut request::Parts, name: &'static str, value: &'static str) {
        let value = HeaderValue::from_static(value);
        request.headers.insert(name, value);
    }
}
