//! Definitions of roles and the delegations in them (03 §2.1, §2.2, `readDefinition`).

use minca_record::base64url::is_base64url;
use minca_record::command::is_command;
use minca_record::constitution::{MAX_GRANTS, are_nests, is_role_name, is_title};
use minca_record::content_id::ContentId;
use minca_record::did::Did;
use minca_record::json::{Object, Text, Value};
use minca_record::note::GREATEST_NONCE;
use minca_record::policy::Policy;

use crate::event::{Grant, RoleDefinition};
use crate::keys;

const MEMBERS: [&str; 4] = ["name", "title", "grants", "nests"];
const GRANT_MEMBERS: [&str; 7] = ["iss", "aud", "sub", "cmd", "pol", "nonce", "meta"];

/// Reads the body of a definition that `root` wrote in `space`.
pub(crate) fn read(body: &Object, root: &Did, space: ContentId) -> Option<RoleDefinition> {
    if !has_only(body, &MEMBERS) {
        return None;
    }
    let name = body.get("name")?.as_str().filter(|it| is_role_name(it))?;
    let title = match body.get("title") {
        None => None,
        Some(title) => Some(title.as_text().filter(|title| is_title(title))?.clone()),
    };
    let grants = body.get("grants")?.as_array()?;
    if grants.len() > MAX_GRANTS {
        return None;
    }
    let expected = Delegation {
        issuer: root.to_string(),
        audience: keys::role(name),
        subject: format!("space:{space}"),
    };
    let grants = grants
        .iter()
        .map(|grant| expected.read(grant))
        .collect::<Option<_>>()?;
    let nests = match body.get("nests") {
        None => Vec::new(),
        Some(nests) => are_nests(nests, name)?,
    };
    Some(RoleDefinition {
        name: name.into(),
        title,
        grants,
        nests,
    })
}

/// What every delegation in one definition says alike.
struct Delegation {
    issuer: String,
    audience: String,
    subject: String,
}

impl Delegation {
    fn read(&self, value: &Value) -> Option<Grant> {
        let payload = value.as_object()?;
        let says = |name, expected: &str| {
            payload.get(name).and_then(|value| value.as_str()) == Some(expected)
        };
        let is_expected = has_only(payload, &GRANT_MEMBERS)
            && says("iss", &self.issuer)
            && says("aud", &self.audience)
            && says("sub", &self.subject)
            && payload.get("nonce")?.as_str().is_some_and(is_nonce)
            && payload
                .get("meta")
                .is_none_or(|meta| meta.as_object().is_some());
        if !is_expected {
            return None;
        }
        let cmd = payload.get("cmd")?;
        let pol = payload.get("pol")?;
        let compared = Object::from([("cmd", cmd.clone()), ("pol", pol.clone())]);
        Some(Grant {
            cmd: cmd.as_text().filter(|cmd| is_command(cmd))?.clone(),
            pol: Policy::read(pol).ok()?,
            canonical: compared.canonical(),
        })
    }
}

fn is_nonce(nonce: &str) -> bool {
    (1..=GREATEST_NONCE).contains(&nonce.len()) && is_base64url(nonce, nonce.len())
}

fn has_only(object: &Object, members: &[&str]) -> bool {
    let known = |name: &Text| name.as_str().is_some_and(|name| members.contains(&name));
    object.iter().all(|(name, _)| known(name))
}
