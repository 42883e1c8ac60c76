//! Joining by an invite: its key signs for one account and one space (03 §7.3).

use minca_record::base64url;
use minca_record::content_id::ContentId;
use minca_record::derive::invite_key;
use minca_record::did::Did;
use minca_record::json::{Object, Text, Value};
use minca_record::signature::{PublicKey, parse_signature};

use crate::keys::in_utf8;
use crate::no_event::NoEvent;
use crate::read::Signatures;

/// The body by which `account` joins `space` with the secret of an invite to
/// `role`, for the record at [`keys::assign`](crate::keys::assign). Its `seen`
/// must include the change that opened the invite, which must be open.
pub fn join_body(space: ContentId, account: &Did, role: &str, secret: &[u8; 32]) -> Object {
    let key = invite_key(secret);
    let account = Text::from(account.to_string());
    let signature = key.sign(signed_text(space, &account).as_bytes());
    let invite = Object::from([
        ("key", key.did().to_string()),
        ("signature", base64url::encode(&signature)),
    ]);
    Object::from([
        ("did", Value::String(account)),
        ("role", role.into()),
        ("assigned", true.into()),
        ("invite", invite.into()),
    ])
}

/// What an invite's key signs, so that `did` may join `space`.
pub(crate) fn signed_text(space: ContentId, did: &Text) -> String {
    format!("minca/space-invite/v1|{space}|{}", in_utf8(did))
}

/// The key in `invite` of an assignment of `did`, if there is one and it
/// signed. Members but `key` and `signature` are ignored. [ours]
pub(crate) fn read(
    body: &Object,
    space: ContentId,
    did: &Text,
    signatures: Signatures,
) -> Result<Option<Did>, NoEvent> {
    let Some(invite) = body.get("invite") else {
        return Ok(None);
    };
    let invite = invite.as_object().ok_or(NoEvent::Invite)?;
    let text = |name| invite.get(name).and_then(|value| value.as_text());
    let (Some(key), Some(signature)) = (text("key"), text("signature")) else {
        return Err(NoEvent::Invite);
    };
    let key = key.as_str().and_then(|key| PublicKey::parse(key).ok());
    let signature = signature.as_str().and_then(|it| parse_signature(it).ok());
    let (Some(key), Some(signature)) = (key, signature) else {
        return Err(NoEvent::InviteSignature);
    };
    let is_to_be_verified = signatures == Signatures::Verify;
    if is_to_be_verified && !key.verify(signed_text(space, did).as_bytes(), &signature) {
        return Err(NoEvent::InviteSignature);
    }
    Ok(Some(key.did()))
}
