//! A history in words short enough to follow when a property fails.

use std::fmt;

use minca_access::Event;

use super::History;
use super::people::{accounts, invite_keys, keys_of};

/// Shows the constitution, then a line for each event in the order of arrival and
/// for each record. Account 3 is `A3`, and its second device's key `A3-2`.
impl fmt::Debug for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("space {}\n", self.constitution.id());
        text.push_str(&String::from_utf8_lossy(&self.constitution.canonical()));
        for event in &self.events {
            text.push_str(&format!("\n{}", line(event)));
        }
        for probe in &self.probes {
            text.push_str(&format!("\n{probe:?}"));
        }
        for (did, name) in names() {
            text = text.replace(&did, &name);
        }
        f.write_str(&text)
    }
}

fn line(event: &Event) -> String {
    let mut line = format!(
        "{} {} by {} n {} saw {:?}: {:?}",
        event.id, event.root, event.author, event.log_place, event.seen, event.kind
    );
    if !event.cutoff.is_empty() {
        line.push_str(&format!(" {:?}", event.cutoff));
    }
    line
}

fn names() -> Vec<(String, String)> {
    let mut names = Vec::new();
    for (place, account) in accounts().iter().enumerate() {
        names.push((account.to_string(), format!("A{place}")));
        for (device, key) in keys_of(account).iter().enumerate().skip(1) {
            names.push((key.to_string(), format!("A{place}-{device}")));
        }
    }
    for (place, key) in invite_keys().iter().enumerate() {
        names.push((key.to_string(), format!("I{place}")));
    }
    names
}
