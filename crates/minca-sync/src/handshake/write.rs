//! The handshake's messages, written: text messages (04 §6.1).

use minca_record::{base64url, did::Did, json::Value, signature::Signature, signing::SigningKey};

use super::{Challenge, ClientView, MAX_EARLIER_READ_KEYS, Nonce, hello_label};

/// The node's challenge, which is the first message on every socket.
pub fn write_challenge(node: &Did, nonce: &Nonce) -> String {
    format!(r#"{{"type":"challenge","nonce":"{nonce}","did":"{node}"}}"#)
}

/// The node's welcome; `signature` is over
/// [`welcome_label`](super::welcome_label).
pub fn write_welcome(node: &Did, signature: &Signature) -> String {
    let signature = base64url::encode(signature);
    format!(r#"{{"type":"welcome","did":"{node}","sig":"{signature}"}}"#)
}

/// The client's hello, signed with `session`, whose DID the view has.
/// `read_keys` are those the client holds of a private space, newest first: the
/// first proves, up to four more stand behind it. `member` is the client's note
/// sealed for peers that hold the newest.
pub fn write_hello(
    client: &ClientView<'_>,
    challenge: &Challenge,
    session: &SigningKey,
    read_keys: &[&SigningKey],
    member: Option<&str>,
) -> String {
    let label = hello_label(client.space, client.did, &challenge.node, &challenge.nonce);
    let sign = |key: &SigningKey| base64url::encode(&key.sign(&label));
    let mut hello = format!(
        r#"{{"type":"hello","did":"{}","nonce":"{}","sig":"{}""#,
        client.did,
        client.nonce,
        sign(session),
    );
    let (newest, earlier) = match read_keys {
        [] => (None, read_keys),
        [newest, earlier @ ..] => (Some(newest), earlier),
    };
    if let Some(newest) = newest {
        hello += &format!(r#","read":"{}","readKey":"{}""#, sign(newest), newest.did());
    }
    if let Some(member) = member {
        let member = Value::from(member).canonical();
        hello += &format!(r#","member":{}"#, String::from_utf8_lossy(&member));
    }
    let earlier: Vec<String> = earlier
        .iter()
        .take(MAX_EARLIER_READ_KEYS)
        .map(|key| format!(r#"{{"readKey":"{}","read":"{}"}}"#, key.did(), sign(key)))
        .collect();
    if !earlier.is_empty() {
        hello += &format!(r#","earlier":[{}]"#, earlier.join(","));
    }
    hello.push('}');
    hello
}
