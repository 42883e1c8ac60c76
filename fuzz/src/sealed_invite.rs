//! Sealed invites: opening one panics for nobody, and what opens can be sealed again.

use minca_access::{LinkRefusal, SealedInviteError, ShortLink, seal_invite};
use minca_record::base64url;
use minca_record::derive::invite_link_seal_key;
use minca_record::envelope::seal_bare;
use minca_record::hash::sha256;
use minca_record::json::{MESSAGE_DEPTH, Value, read};
use miniz_oxide::deflate::compress_to_vec_zlib;

const LINK: [u8; 16] = [3; 16];

/// One run. The first byte says what the others are: a body to be deflated and sealed, a deflated
/// one to be sealed, or a blob.
pub fn run(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else {
        return;
    };
    match kind % 3 {
        0 => body(rest),
        1 => {
            let _ = open(&sealed(rest));
        }
        _ => {
            if let Ok(blob) = std::str::from_utf8(rest) {
                let _ = open(blob);
            }
        }
    }
}

fn body(body: &[u8]) {
    let opened = open(&sealed(&compress_to_vec_zlib(body, 1)));
    let body = read(body, MESSAGE_DEPTH).ok();
    let body = body.as_ref().and_then(Value::as_object);
    let of_this_kind = body.is_some_and(|body| {
        let version = body.get("v").and_then(Value::whole_number);
        version == Some(2) && body.get("invite").is_some_and(|it| it.as_str().is_some())
    });
    match opened {
        Ok(()) => assert!(of_this_kind),
        Err(LinkRefusal::Sealed(SealedInviteError::Invite(_))) => assert!(of_this_kind),
        Err(LinkRefusal::Sealed(SealedInviteError::Body)) => {}
        Err(error) => panic!("{error}"),
    }
}

fn sealed(deflated: &[u8]) -> String {
    let sealed = seal_bare(&invite_link_seal_key(&LINK), deflated, [0; 12]);
    base64url::encode(&sealed.expect("short enough"))
}

/// Opens a blob by the link to it.
fn open(blob: &str) -> Result<(), LinkRefusal> {
    let pin = sha256(blob.as_bytes());
    let link = ShortLink::new(LINK, std::array::from_fn(|place| pin[place]), &[]);
    assert_eq!(link.open(["another"]), Err(LinkRefusal::NotFound));
    let invite = link.open([blob, blob])?;
    assert!(
        invite
            .secret()
            .is_none_or(|secret| *secret == link.invite_secret())
    );
    // Sealed again it is another blob, and the same invite.
    let long = invite.encode();
    let (invitation, _) = long.split_once('.').unwrap_or((&long, ""));
    let invitation = base64url::decode(invitation).expect("as it was written");
    let invitation = read(&invitation, MESSAGE_DEPTH).expect("as it was written");
    let invitation = invitation.into_object().expect("as it was written");
    if let Ok(again) = seal_invite(&LINK, &invitation, None, [1; 12]) {
        let link = ShortLink::new(LINK, again.pin, &[]);
        assert_eq!(link.open([&*again.blob]), Ok(invite));
    }
    Ok(())
}
