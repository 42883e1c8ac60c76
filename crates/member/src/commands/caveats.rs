//! What is said beside a change that was made: that it gave nothing new, or what it can't do.

use minca_access::history::{COMMANDS, State};
use minca_record::command::covers;
use minca_record::did::Did;
use minca_record::json::Text;

use crate::access::Grant;
use crate::gatekeeper::root_of;
use crate::replica::Replica;

/// What of a role's definition does nothing, as things are.
pub(super) fn of_role(state: &State, grants: &[Grant<'_>], nests: &[&str]) -> Vec<String> {
    let unchecked = grants.iter().map(|(command, _)| *command);
    let unchecked = unchecked.filter(|command| {
        let granted = Text::from(*command);
        !COMMANDS.iter().any(|known| covers(&granted, known))
    });
    let unchecked = unchecked.map(|command| {
        format!(
            "No peer checks {command}: it means what an app makes of it. Those peers check are {}",
            COMMANDS.join(", ")
        )
    });
    let unknown = nests.iter();
    let unknown = unknown.filter(|role| !state.roles.contains_key(&Text::from(**role)));
    let unknown = unknown.map(|role| {
        format!("There is no role {role} yet: nesting it gives nothing until it is defined")
    });
    unchecked.chain(unknown).collect()
}

/// That an account has the role it is assigned.
pub(super) fn of_assigning(state: &State, account: &Did, role: &str) -> Option<String> {
    let roles = state.assigned.get(&Text::from(account.to_string()))?;
    let has = roles.contains_key(&Text::from(role));
    has.then(|| format!("That account had the role {role} before this"))
}

/// That the last founder goes.
pub(super) fn of_founder_going(state: &State, account: &Did) -> Option<String> {
    let account = Text::from(account.to_string());
    let is_last = state.founders.iter().all(|founder| *founder == account);
    (is_last && !state.founders.is_empty()).then(|| {
        "That was the last founder: what no role grants nobody may do here any more, and nobody \
         becomes a founder again (03 §2.1). A space that succeeds this one is the way on"
            .to_owned()
    })
}

/// That a key was revoked before, or signed nothing that is held.
pub(super) fn of_revoking(replica: &Replica, key: &Did, account: &Did) -> Option<String> {
    let is_revoked = !replica
        .gatekeeper()
        .history()
        .revoked(key, account)
        .is_empty();
    if is_revoked {
        return Some("That key was revoked before this".to_owned());
    }
    let key_text = key.to_string();
    let mut held = replica.holdings().versions();
    let signed = held.any(|version| version.author().as_str() == Some(&*key_text));
    (!signed && *key != replica.device().did()).then(|| {
        "Nothing signed with that key is held here: see that it is the one that is meant".to_owned()
    })
}

/// Whose a key is, where it is known to be another account's and not this one's: a revoke reaches
/// nothing of another account's (03 §4.5).
pub(super) fn owner_of(replica: &Replica, key: &Did, account: &Did) -> Option<Did> {
    let state = replica.gatekeeper().history().current();
    let key_text = Text::from(key.to_string());
    if key != account
        && (state.founders.contains(&key_text) || state.assigned.contains_key(&key_text))
    {
        return Some(*key);
    }
    let signed = replica.holdings().versions();
    let signed = signed.filter(|version| *version.author() == key_text);
    let mut owners: Vec<Did> = signed.filter_map(|version| root_of(version)).collect();
    match owners.contains(account) {
        true => None,
        false => owners.pop(),
    }
}
