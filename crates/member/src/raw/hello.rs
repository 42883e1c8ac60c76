//! Hellos by hand: right at first, then whatever a test makes of them.

use minca_record::base64url;
use minca_record::did::Did;
use minca_record::json::{Object, Value};
use minca_record::signing::SigningKey;
use minca_sync::handshake::{Nonce, hello_label};

/// A hello whose every member can be changed, left out or repeated.
#[derive(Clone, Debug)]
pub struct RawHello {
    object: Object,
    label: Vec<u8>,
}

impl RawHello {
    /// The right hello of the key `session`, without read proofs.
    pub fn new(
        space: &str,
        node: &Did,
        node_nonce: &Nonce,
        session: &SigningKey,
        nonce: &Nonce,
    ) -> RawHello {
        let did = session.did();
        let label = hello_label(space, &did, node, node_nonce);
        let object = Object::from([
            ("type", "hello".to_owned()),
            ("did", did.to_string()),
            ("nonce", nonce.to_string()),
            ("sig", base64url::encode(&session.sign(&label))),
        ]);
        RawHello { object, label }
    }

    /// Proves this read key, as the newest.
    pub fn reads_with(mut self, key: &SigningKey) -> RawHello {
        self.object.insert("read", self.signed_by(key));
        self.object.insert("readKey", key.did().to_string());
        self
    }

    /// Proves this read key too, behind those before it.
    pub fn and_earlier(mut self, key: &SigningKey) -> RawHello {
        let proof = Object::from([
            ("readKey", key.did().to_string()),
            ("read", self.signed_by(key)),
        ]);
        let mut earlier = match self.object.remove("earlier") {
            Some(Value::Array(earlier)) => earlier,
            _ => Vec::new(),
        };
        earlier.push(proof.into());
        self.object.insert("earlier", earlier);
        self
    }

    /// Any key's signature over what a hello's are over, in base64url.
    pub fn signed_by(&self, key: &SigningKey) -> String {
        base64url::encode(&key.sign(&self.label))
    }

    /// Sets a member to anything.
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> RawHello {
        self.object.insert(name, value);
        self
    }

    /// Leaves a member out.
    pub fn without(mut self, name: &str) -> RawHello {
        self.object.remove(name);
        self
    }

    /// The message's text.
    pub fn text(&self) -> String {
        // A canonical form is always UTF-8.
        String::from_utf8_lossy(&self.object.canonical()).into_owned()
    }
}

/// A JSON object's text with one more member at its end, which may be there already: the last
/// counts.
pub fn repeat_member(object: &str, name: &str, value: &Value) -> String {
    let whole = object.trim_end();
    let open = whole.strip_suffix('}').unwrap_or(whole);
    let joint = if open.trim_end().ends_with('{') {
        ""
    } else {
        ","
    };
    let name = String::from_utf8_lossy(&Value::from(name).canonical()).into_owned();
    let value = String::from_utf8_lossy(&value.canonical()).into_owned();
    format!("{open}{joint}{name}:{value}}}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Account;
    use minca_sync::frame::Frame;
    use minca_sync::handshake::{Held, HostView, proof, read_hello};

    #[test]
    fn an_unchanged_hello_is_admitted_and_one_changed_member_is_not() {
        let node = Account::from_seed([1; 16]).did();
        let session = Account::from_seed([2; 16]).root_key().clone();
        let (old, current) = (Account::from_seed([3; 16]), Account::from_seed([4; 16]));
        let (ours, theirs) = (Nonce([5; 16]), Nonce([6; 16]));
        let space = "blm7z6wkumdjs43sxki3lv27z5x6qtwa345vmlzjco2mxxau3jmhq";
        let admits = |hello: &RawHello| {
            let text = hello.text();
            let hello = read_hello(Frame::Text(text.as_bytes())).unwrap();
            let host = HostView {
                node: &node,
                nonce: &theirs,
                space,
                held: Held::Private {
                    current_read_key: current.did(),
                },
            };
            proof(&hello, &host).verify().is_ok()
        };
        let hello = RawHello::new(space, &node, &theirs, &session, &ours);
        assert!(!admits(&hello));
        assert!(admits(&hello.clone().reads_with(current.root_key())));
        assert!(!admits(&hello.clone().reads_with(old.root_key())));
        let behind = hello
            .reads_with(old.root_key())
            .and_earlier(current.root_key());
        assert!(admits(&behind));
        assert!(!admits(&behind.clone().without("earlier")));
        assert!(!admits(
            &behind.clone().set("sig", behind.signed_by(old.root_key()))
        ));
    }

    #[test]
    fn a_repeated_member_comes_last() {
        let repeated = repeat_member(r#"{"a":1}"#, "a", &Value::from(2u32));
        assert_eq!(repeated, r#"{"a":1,"a":2}"#);
        assert_eq!(repeat_member("{}", "a", &Value::Null), r#"{"a":null}"#);
        let nested = repeat_member(r#"{"a":{"b":{}}}"#, "c", &Value::Null);
        assert_eq!(nested, r#"{"a":{"b":{}},"c":null}"#);
    }
}
