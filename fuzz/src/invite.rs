//! Invites: those that read come back, and who is let in has what the protocol allows.

use minca_access::{
    GivenInvite, Invite, MAX_RELAYS, MAX_ROLE_SHOWN, check_invitation, encode_invite, invite_in,
    read_invite,
};
use minca_record::json::{MESSAGE_DEPTH, Value, read};
use minca_record::loose::{INVITATIONS, LooseDraft};
use minca_record::signing::SigningKey;
use minca_record::url::MAX_URLS;

/// One run: the bytes as an invite's text, and as an invitation's body that is signed first.
pub fn run(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        as_text(text);
    }
    if let Ok(body) = read(data, MESSAGE_DEPTH) {
        signed(body);
    }
}

fn as_text(text: &str) {
    let found = invite_in(text);
    assert!(text.ends_with(found) || !found.contains(['&', ' ', '\n']));
    match read_invite(text) {
        Ok(GivenInvite::Long(invite)) => check(invite),
        Ok(GivenInvite::Short(link)) => {
            assert_eq!(read_invite(&link.to_string()), Ok(GivenInvite::Short(link)));
        }
        Err(error) => assert_eq!(Invite::parse(found), Err(error)),
    }
}

fn signed(body: Value) {
    let draft = LooseDraft {
        collection: INVITATIONS,
        key: "lsshlqgq7ahwsxlpivjrqatywa",
        created_at: "2026-10-25T18:15:44.884Z",
        note: None,
        body,
    };
    let key = SigningKey::from_scalar(&[7; 32]).expect("a scalar");
    let invitation = draft.sign(&key);
    for secret in [None, Some(&[5; 32])] {
        if let Ok(invite) = Invite::parse(&encode_invite(&invitation, secret)) {
            assert_eq!(invite.secret(), secret);
            check(invite);
        }
    }
}

fn check(invite: Invite) {
    assert_eq!(Invite::parse(&invite.encode()), Ok(invite.clone()));
    let secret = invite.secret().copied();
    let space = invite.space_id().to_owned();
    let Ok(invitation) = check_invitation(invite) else {
        return;
    };
    assert_eq!(invitation.space.id().to_string(), space);
    assert_eq!(invitation.secret, secret);
    assert!(invitation.key.is_none() || invitation.space.is_private());
    assert!(invitation.nodes.len() <= MAX_URLS && invitation.relays.len() <= MAX_RELAYS);
    assert!(invitation.nodes.iter().all(|node| node.pin().is_some()));
    let role = invitation.role.as_ref();
    assert!(role.is_none_or(|role| role.utf16_len() <= MAX_ROLE_SHOWN));
    assert!(invitation.is_to_a_role() || secret.is_none());
}
