//! Part 03 of the protocol: a space's access history.
//!
//! [`event_of`] turns a version of an access collection into the change it says,
//! or says why it is none (03 §3.3). Whether a change counts is for a replay of
//! them all (03 §4): [`history`]. Key changes, boxes and member keys (03 §9) are
//! for members alone, as are invitations and short links (03 §7).

mod boxes;
pub mod case;
mod cutoff;
mod earlier;
mod event;
mod fields;
pub mod history;
mod invitation;
mod join;
mod keepers;
pub mod keys;
mod member_keys;
mod no_event;
mod read;
mod relays;
mod role;
mod sealed_invite;
mod short_link;

pub use boxes::{BOXES, BoxRefusal, KeyBox, lacking_boxes, seal_box};
pub use cutoff::{Cutoff, MAX_PLACES};
pub use earlier::{ChangeKeyError, KeyChange, MAX_EARLIER, MalformedEarlier, change_key};
pub use event::{Event, Grant, Keeper, Kind, RoleDefinition};
pub use invitation::{
    Invitation, InvitationDraft, Invite, InviteRefusal, MAX_ROLE_SHOWN, check_invitation,
    encode_invite, invite_in,
};
pub use join::join_body;
pub use keepers::{MAX_COPIES, MAX_KEEPER_DID, MAX_KEEPER_NAME, MAX_KEEPERS};
pub use member_keys::{MEMBER_KEYS, member_key_body, member_key_of};
pub use no_event::NoEvent;
pub use read::{MAX_KEY_ID, Space, event_of, event_of_kept};
pub use relays::{BadRelays, MAX_RELAYS, check_relays, read_relays};
pub use sealed_invite::{
    MAX_BLOB_CHARACTERS, MAX_INFLATED, SealInviteError, SealedInvite, SealedInviteError,
    seal_invite,
};
pub use short_link::{
    GivenInvite, LinkRefusal, MAX_LINK_PLACES, NoShortLink, ShortLink, read_invite,
};
