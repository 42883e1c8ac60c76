//! Keepers: nodes that hold every record of a space (03 §10, `checkKeepers`).

use std::collections::BTreeSet;

use minca_record::json::{Object, Value};

use crate::event::{Keeper, Kind};
use crate::fields::is_did_key;
use crate::no_event::NoEvent;

/// The most keepers a space names.
pub const MAX_KEEPERS: usize = 16;
/// The longest a keeper's `did` may be, in UTF-16 code units.
pub const MAX_KEEPER_DID: usize = 200;
/// The longest a keeper's `name` may be, in UTF-16 code units.
pub const MAX_KEEPER_NAME: usize = 80;
/// The greatest `copies`.
pub const MAX_COPIES: u8 = 16;

/// Reads `keepers` and `copies`. Other members of a keeper are ignored. [ours]
pub(crate) fn read(body: &Object) -> Result<Kind, NoEvent> {
    let list = body.get("keepers").and_then(Value::as_array);
    let list = list.filter(|list| list.len() <= MAX_KEEPERS);
    let keepers: Option<Vec<Keeper>> = list.ok_or(NoEvent::Fields)?.iter().map(keeper).collect();
    let keepers = keepers.ok_or(NoEvent::Fields)?;
    let distinct: BTreeSet<_> = keepers.iter().map(|keeper| &keeper.did).collect();
    if distinct.len() != keepers.len() {
        return Err(NoEvent::Fields);
    }
    let copies = match body.get("copies") {
        None | Some(Value::Null) => None,
        Some(copies) => Some(copies_of(copies).ok_or(NoEvent::Fields)?),
    };
    Ok(Kind::Keepers { keepers, copies })
}

fn keeper(value: &Value) -> Option<Keeper> {
    let keeper = value.as_object()?;
    let did = keeper.get("did")?.as_text()?;
    let name = keeper.get("name")?.as_text()?;
    let fits =
        is_did_key(did) && did.utf16_len() <= MAX_KEEPER_DID && name.utf16_len() <= MAX_KEEPER_NAME;
    fits.then(|| Keeper {
        did: did.clone(),
        name: name.clone(),
    })
}

fn copies_of(value: &Value) -> Option<u8> {
    let copies = u8::try_from(value.whole_number()?).ok()?;
    (1..=MAX_COPIES).contains(&copies).then_some(copies)
}
