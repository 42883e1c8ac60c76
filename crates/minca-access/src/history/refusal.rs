//! Why a change is refused in a state: the grant rule (03 §4.5).

use std::collections::HashSet;

use minca_record::json::{Object, Text, Value};
use minca_record::required::{COLLECTION_DEFINE, RECORD_DELETE, RECORD_WRITE};
use thiserror::Error;

use super::arena::{Change, Placed};
use super::may::Invocation;
use super::names::Name;
use super::view::{DefinitionState, View};
use super::work::Work;
use crate::event::Kind;
use crate::relays::check_relays;

pub(super) const ROLE_DEFINE: &str = "/role/define";
pub(super) const ROLE_ASSIGN: &str = "/role/assign";
pub(super) const ROLE_UNASSIGN: &str = "/role/unassign";
pub(super) const MEMBER_REMOVE: &str = "/member/remove";
pub(super) const KEY_CHANGE: &str = "/key/change";
pub(super) const SPACE_RELAYS: &str = "/space/relays";
pub(super) const SPACE_KEEPERS: &str = "/space/keepers";
pub(super) const SPACE_SUCCEED: &str = "/space/succeed";

/// The commands that peers check (03 §2.3). A grant may name any other, for an app's own use.
pub const COMMANDS: [&str; 11] = [
    RECORD_WRITE,
    RECORD_DELETE,
    COLLECTION_DEFINE,
    ROLE_DEFINE,
    ROLE_ASSIGN,
    ROLE_UNASSIGN,
    MEMBER_REMOVE,
    KEY_CHANGE,
    SPACE_RELAYS,
    SPACE_KEEPERS,
    SPACE_SUCCEED,
];

/// What of 03 §4.5 a change fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Refusal {
    /// No role of its author's holds the command with these arguments.
    #[error("no role of its author grants it")]
    NotGranted,
    /// `did` is a role.
    #[error("roles are assigned to accounts, not to roles")]
    TargetIsRole,
    /// A join takes the role.
    #[error("a join assigns the role")]
    JoinUnassigns,
    /// A join by another than the account that joins.
    #[error("an account joins by itself")]
    JoinForAnother,
    /// There is no such invite.
    #[error("there is no such invite")]
    InviteUnknown,
    /// The invite is closed.
    #[error("the invite is closed")]
    InviteClosed,
    /// The invite is to another role.
    #[error("the invite is to another role")]
    InviteRole,
    /// The account has the role already.
    #[error("the account holds the role already")]
    AlreadyHeld,
    /// The account doesn't have the role.
    #[error("the account does not hold the role")]
    NotHeld,
    /// There is no such role.
    #[error("there is no such role")]
    RoleUnknown,
    /// Who opened the invite may not assign its role to who joins.
    #[error("who opened the invite may not assign the role to this account")]
    OpenerNotGranted,
    /// Nobody else changes what a founder is.
    #[error("no one but a founder itself changes its roles or removes it")]
    TargetIsFounder,
    /// Who is to be removed is no member.
    #[error("the account is no member")]
    TargetNotMember,
    /// Its author is no member.
    #[error("its author is no member")]
    NotMember,
    /// Only a founder steps down, and only itself.
    #[error("only a founder steps down, by itself")]
    NotFounder,
    /// The definition is contested, and its author may not define it.
    #[error("the definition is contested, and no role of its author grants defining it")]
    Contested,
    /// A public space has no keys.
    #[error("a public space has no keys")]
    PublicSpace,
    /// The key's id or its read key was one before.
    #[error("the key or its read key is one the space had")]
    KeyUsed,
    /// The list of relays does not check out.
    #[error("the list of relays does not check out")]
    Relays,
    /// The list of keepers does not check out.
    #[error("the list of keepers does not check out")]
    Keepers,
}

impl Refusal {
    /// One word for it, for programs.
    pub fn word(self) -> &'static str {
        match self {
            Refusal::NotGranted => "not-granted",
            Refusal::TargetIsRole => "target-is-role",
            Refusal::JoinUnassigns => "join-unassigns",
            Refusal::JoinForAnother => "join-for-another",
            Refusal::InviteUnknown => "invite-unknown",
            Refusal::InviteClosed => "invite-closed",
            Refusal::InviteRole => "invite-role",
            Refusal::AlreadyHeld => "already-held",
            Refusal::NotHeld => "not-held",
            Refusal::RoleUnknown => "role-unknown",
            Refusal::OpenerNotGranted => "opener-not-granted",
            Refusal::TargetIsFounder => "target-is-founder",
            Refusal::TargetNotMember => "target-not-member",
            Refusal::NotMember => "not-member",
            Refusal::NotFounder => "not-founder",
            Refusal::Contested => "contested",
            Refusal::PublicSpace => "public-space",
            Refusal::KeyUsed => "key-used",
            Refusal::Relays => "relays",
            Refusal::Keepers => "keepers",
        }
    }
}

/// `refusal(e, S)` of 03 §4.5: why the event's root may not make the change in the
/// state, or `None` if it may.
pub(super) fn refusal(view: View<'_>, event: &Placed, work: &mut Work) -> Option<Refusal> {
    check(view, event, work).err()
}

fn check(view: View<'_>, event: &Placed, work: &mut Work) -> Result<(), Refusal> {
    let account = event.root;
    work.spent += 1;
    match &event.change {
        Change::Role { role, .. } => {
            let arguments = Object::from([("role", view.text(*role).clone())]);
            granted(view, account, ROLE_DEFINE, &arguments, work)
        }
        Change::Assign {
            did,
            role,
            assigned,
            via_invite,
        } => {
            if view.text(*did).as_wtf8().starts_with(b"role:") {
                return Err(Refusal::TargetIsRole);
            }
            let assignment = Assignment {
                by: account,
                did: *did,
                role: *role,
            };
            match via_invite {
                Some(invite) if *assigned => assignment.check_join(view, *invite, work),
                Some(_) => Err(Refusal::JoinUnassigns),
                None if *assigned => assignment.check_assign(view, work),
                None => assignment.check_unassign(view, work),
            }
        }
        Change::Remove { did } => check_remove(view, account, *did, work),
        Change::StepDown { did } => {
            let is_own = account == *did && view.is_founder(account);
            is_own.then_some(()).ok_or(Refusal::NotFounder)
        }
        Change::Succeed => check_succeed(view, account, work),
        Change::Invite { invite, role, open } => {
            match view.invite(*invite) {
                Some(existing) => check_assigns(view, account, existing.role, work)?,
                None if !open => return Err(Refusal::InviteUnknown),
                None => {}
            }
            match open {
                true => check_assigns(view, account, *role, work),
                false => Ok(()),
            }
        }
        Change::Revoke { .. } | Change::Fork { .. } => check_member(view, account, work),
        Change::Definition { name, .. } => check_definition(view, account, *name, work),
        Change::Key => check_key(view, event, work),
        Change::Relays => {
            granted(view, account, SPACE_RELAYS, &Object::new(), work)?;
            match &event.event.kind {
                Kind::Relays { relays } if check_relays(relays).is_ok() => Ok(()),
                _ => Err(Refusal::Relays),
            }
        }
        // What its list must pass it passed to be an event at all.
        Change::Keepers => granted(view, account, SPACE_KEEPERS, &Object::new(), work),
    }
}

fn granted(
    view: View<'_>,
    account: Name,
    cmd: &str,
    arguments: &Object,
    work: &mut Work,
) -> Result<(), Refusal> {
    let invocation = Invocation::new(cmd, arguments);
    let may = view.may(account, invocation, work);
    may.then_some(()).ok_or(Refusal::NotGranted)
}

fn check_member(view: View<'_>, account: Name, work: &mut Work) -> Result<(), Refusal> {
    let is_member = view.is_member(account, work);
    is_member.then_some(()).ok_or(Refusal::NotMember)
}

/// The arguments of assigning, unassigning and removing (03 §2.3).
pub(super) fn target_arguments(
    view: View<'_>,
    role: Option<Name>,
    is_self: bool,
    roles: &[Name],
) -> Object {
    let names = roles.iter();
    let names = names.map(|role| Value::from(view.text(*role).clone()));
    let mut arguments = Object::new();
    if let Some(role) = role {
        arguments.insert("role", view.text(role).clone());
    }
    arguments.insert("self", is_self);
    arguments.insert("roles", names.collect::<Vec<Value>>());
    arguments
}

/// An assignment, joining or unassignment.
struct Assignment {
    by: Name,
    did: Name,
    role: Name,
}

impl Assignment {
    fn check_join(&self, view: View<'_>, invite: Name, work: &mut Work) -> Result<(), Refusal> {
        if self.by != self.did {
            return Err(Refusal::JoinForAnother);
        }
        let invite = view.invite(invite).ok_or(Refusal::InviteUnknown)?;
        if !invite.is_open {
            return Err(Refusal::InviteClosed);
        }
        if invite.role != self.role {
            return Err(Refusal::InviteRole);
        }
        if view.holds(self.did, self.role, work) {
            return Err(Refusal::AlreadyHeld);
        }
        if !view.role_exists(self.role) {
            return Err(Refusal::RoleUnknown);
        }
        let roles = view.roles_of(self.did, work);
        let mut openers: Vec<Name> = invite
            .by
            .iter()
            .map(|opening| view.arena.event(*opening).root)
            .collect();
        openers.sort_unstable();
        openers.dedup();
        // What is asked of an opener is the same for all but who joins, and so is the answer
        // for all that have the same roles.
        let mut asked = HashSet::new();
        for opener in openers {
            let is_self = opener == self.did;
            if !view.is_founder(opener) && !asked.insert((is_self, view.roles_of(opener, work))) {
                continue;
            }
            let arguments = target_arguments(view, Some(self.role), is_self, &roles);
            let invocation = Invocation::new(ROLE_ASSIGN, &arguments);
            if !view.may(opener, invocation, work) {
                return Err(Refusal::OpenerNotGranted);
            }
        }
        Ok(())
    }

    fn check_assign(&self, view: View<'_>, work: &mut Work) -> Result<(), Refusal> {
        self.check_target(view)?;
        self.check_granted(view, ROLE_ASSIGN, work)
    }

    fn check_unassign(&self, view: View<'_>, work: &mut Work) -> Result<(), Refusal> {
        let is_held = view.holds(self.did, self.role, work);
        if self.by == self.did {
            return is_held.then_some(()).ok_or(Refusal::NotHeld);
        }
        self.check_target(view)?;
        if !is_held {
            return Err(Refusal::NotHeld);
        }
        self.check_granted(view, ROLE_UNASSIGN, work)
    }

    fn check_target(&self, view: View<'_>) -> Result<(), Refusal> {
        if self.by != self.did && view.is_founder(self.did) {
            return Err(Refusal::TargetIsFounder);
        }
        let exists = view.role_exists(self.role);
        exists.then_some(()).ok_or(Refusal::RoleUnknown)
    }

    fn check_granted(&self, view: View<'_>, cmd: &str, work: &mut Work) -> Result<(), Refusal> {
        if view.is_founder(self.by) {
            return Ok(());
        }
        let roles = view.roles_of(self.did, work);
        let arguments = target_arguments(view, Some(self.role), self.by == self.did, &roles);
        let invocation = Invocation::new(cmd, &arguments);
        let may = view.may(self.by, invocation, work);
        may.then_some(()).ok_or(Refusal::NotGranted)
    }
}

fn check_remove(view: View<'_>, account: Name, did: Name, work: &mut Work) -> Result<(), Refusal> {
    if !view.is_member(did, work) {
        return Err(Refusal::TargetNotMember);
    }
    if account == did {
        return Ok(());
    }
    if view.is_founder(did) {
        return Err(Refusal::TargetIsFounder);
    }
    let roles = view.roles_of(did, work);
    let arguments = target_arguments(view, None, false, &roles);
    let invocation = Invocation::new(MEMBER_REMOVE, &arguments);
    let may = view.may(account, invocation, work);
    may.then_some(()).ok_or(Refusal::NotGranted)
}

/// Whoever may, and any member where no member may.
fn check_succeed(view: View<'_>, account: Name, work: &mut Work) -> Result<(), Refusal> {
    check_member(view, account, work)?;
    let arguments = Object::new();
    let invocation = Invocation::new(SPACE_SUCCEED, &arguments);
    if view.may(account, invocation, work) {
        return Ok(());
    }
    if view.founders().next().is_some() {
        return Err(Refusal::NotGranted);
    }
    // A member may exactly when a role it holds does, so the roles are asked, each once.
    let members = view.members(work);
    let roles = members.iter().map(|member| view.roles_of(*member, work));
    let mut roles: Vec<Name> = roles.collect::<Vec<_>>().concat();
    roles.sort_unstable();
    roles.dedup();
    let some_may = view.any_role_holds(roles, invocation, work);
    (!some_may).then_some(()).ok_or(Refusal::NotGranted)
}

/// `assigns(x)`: whether the account may open or close invites to a role.
fn check_assigns(
    view: View<'_>,
    account: Name,
    role: Name,
    work: &mut Work,
) -> Result<(), Refusal> {
    if !view.role_exists(role) {
        return Err(Refusal::RoleUnknown);
    }
    let arguments = target_arguments(view, Some(role), false, &[]);
    granted(view, account, ROLE_ASSIGN, &arguments, work)
}

fn check_definition(
    view: View<'_>,
    account: Name,
    name: Name,
    work: &mut Work,
) -> Result<(), Refusal> {
    let arguments = Object::from([("collection", view.text(name).clone())]);
    if granted(view, account, COLLECTION_DEFINE, &arguments, work).is_ok() {
        return Ok(());
    }
    match view.definition(name, work) {
        DefinitionState::None => Err(Refusal::NotGranted),
        DefinitionState::Contested(_) => Err(Refusal::Contested),
        DefinitionState::InForce { defined_by, .. } => {
            let is_own = defined_by == Some(account) && view.is_member(account, work);
            is_own.then_some(()).ok_or(Refusal::NotGranted)
        }
    }
}

fn check_key(view: View<'_>, event: &Placed, work: &mut Work) -> Result<(), Refusal> {
    let Some(first) = &view.arena.first_key else {
        return Err(Refusal::PublicSpace);
    };
    granted(view, event.root, KEY_CHANGE, &Object::new(), work)?;
    let Some(new) = key_of(event) else {
        return Err(Refusal::KeyUsed);
    };
    let is_new = |(key_id, read_key): (&Text, &Text)| *key_id != *new.0 && *read_key != *new.1;
    let changes = view.key_changes(work);
    let mut changes = changes.into_iter().map(|change| view.arena.event(change));
    let is_new = is_new((&first.0, &first.1)) && changes.all(|it| key_of(it).is_none_or(is_new));
    is_new.then_some(()).ok_or(Refusal::KeyUsed)
}

/// The key id and read key of a key change.
pub(super) fn key_of(event: &Placed) -> Option<(&Text, &Text)> {
    match &event.event.kind {
        Kind::Key { key_id, read_key } => Some((key_id, read_key)),
        _ => None,
    }
}
