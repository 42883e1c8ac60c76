//! Whether an event's root may make its change in a state (03 §4.5).

use minca_access::{Kind, MAX_KEEPERS, check_relays};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Text, Value};

use super::account;
use super::may::Invocation;
use super::state::State;

/// Whether `refusal(event, state)` is null, for a change by `root`.
pub fn is_granted(kind: &Kind, root: &Text, state: &State) -> bool {
    let may = |command, arguments: Object| state.may(root, &Invocation::of(command, arguments));
    match kind {
        Kind::Role(role) => may("/role/define", Object::from([("role", &*role.name)])),
        Kind::Assign {
            did,
            role,
            assigned,
            via_invite,
        } => match via_invite {
            Some(invite) => *assigned && root == did && may_join(state, did, role, *invite),
            None => may_assign(state, root, did, role, *assigned),
        },
        Kind::Remove { did } => {
            let arguments = Object::from([
                ("self", Value::from(false)),
                ("roles", texts(state.roles_of(did))),
            ]);
            state.is_member(did)
                && (root == did
                    || !state.founders.contains(did) && may("/member/remove", arguments))
        }
        Kind::StepDown { did } => root == did && state.founders.contains(did),
        Kind::Succeed { .. } => {
            let succeed = Invocation::of("/space/succeed", Object::new());
            let nobody_may = || !state.members().iter().any(|it| state.may(it, &succeed));
            state.is_member(root) && (state.may(root, &succeed) || nobody_may())
        }
        Kind::Invite {
            invite_key,
            role,
            open,
        } => {
            let assigns = |role: &Text| {
                state.role_exists(role) && may("/role/assign", arguments(role, false, vec![]))
            };
            let invite = state.invites.get(invite_key);
            invite.is_none_or(|it| assigns(&it.role))
                && (*open || invite.is_some())
                && (!*open || assigns(role))
        }
        Kind::Revoke { .. } | Kind::Fork { .. } => state.is_member(root),
        Kind::Definition { name, .. } => {
            let name = Text::from(&**name);
            let defines = may(
                "/collection/define",
                Object::from([("collection", name.clone())]),
            );
            let defined_by = state.definitions.get(&name);
            let defined_by = defined_by.and_then(|it| it.defined_by.as_ref());
            defines || state.is_member(root) && defined_by == Some(root)
        }
        Kind::Key { key_id, read_key } => {
            let is_used =
                |key: &super::state::Key| key.key_id == *key_id || key.read_key == *read_key;
            !state.keys.is_empty()
                && may("/key/change", Object::new())
                && !state.keys.iter().any(is_used)
        }
        Kind::Relays { relays } => {
            may("/space/relays", Object::new()) && check_relays(relays).is_ok()
        }
        Kind::Keepers { keepers, .. } => {
            may("/space/keepers", Object::new()) && keepers.len() <= MAX_KEEPERS
        }
    }
}

fn may_join(state: &State, did: &Text, role: &Text, invite: Did) -> bool {
    let Some(invite) = state.invites.get(&account(invite)) else {
        return false;
    };
    let is_assignment_of = |opener: &Text| {
        let arguments = arguments(role, opener == did, state.roles_of(did));
        state.may(opener, &Invocation::of("/role/assign", arguments))
    };
    invite.open
        && invite.role == *role
        && !state.holds_role(did, role)
        && state.role_exists(role)
        && invite.by.iter().all(is_assignment_of)
}

fn may_assign(state: &State, root: &Text, did: &Text, role: &Text, assigned: bool) -> bool {
    let holds_it = state.holds_role(did, role);
    if !assigned && root == did {
        return holds_it;
    }
    if state.founders.contains(did) && root != did || !state.role_exists(role) {
        return false;
    }
    let arguments = arguments(role, root == did, state.roles_of(did));
    if assigned {
        state.may(root, &Invocation::of("/role/assign", arguments))
    } else {
        holds_it && state.may(root, &Invocation::of("/role/unassign", arguments))
    }
}

fn arguments(role: &Text, is_self: bool, roles: Vec<Text>) -> Object {
    Object::from([
        ("role", Value::from(role.clone())),
        ("self", is_self.into()),
        ("roles", texts(roles)),
    ])
}

pub(super) fn texts(texts: impl IntoIterator<Item = Text>) -> Value {
    Value::Array(texts.into_iter().map(Value::from).collect())
}

pub(super) fn ids(ids: impl IntoIterator<Item = ContentId>) -> Value {
    let mut ids: Vec<ContentId> = ids.into_iter().collect();
    ids.sort();
    Value::Array(ids.iter().map(|it| it.to_string().into()).collect())
}
