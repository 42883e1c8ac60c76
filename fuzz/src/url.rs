//! Node URLs, relay URLs and the targets of upgrades.

use minca_access::{check_relays, read_relays};
use minca_record::json::Text;
use minca_record::url::{MAX_URL_CHARACTERS, NodeUrl, RelayUrl, read_nodes};
use minca_sync::request::Target;

const SPACE: &str = "blm7z6wkumdjs43sxki3lv27z5x6qtwa345vmlzjco2mxxau3jmhq";

/// One run.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(url) = NodeUrl::parse_typed(text) {
        node(text, &url);
    } else {
        assert!(NodeUrl::parse(text).is_err());
    }
    if let Ok(url) = text.parse::<RelayUrl>() {
        assert_eq!(url.to_string(), text);
    }
    let _ = Target::read(text);
    lists(text);
}

fn node(text: &str, url: &NodeUrl) {
    assert_eq!(NodeUrl::parse(text).is_ok(), url.pin().is_some());
    assert!(url.address().len() <= MAX_URL_CHARACTERS);
    let pin = url.pin().map_or(String::new(), |pin| format!("#{pin}"));
    assert_eq!(format!("{}{pin}", url.address()), text);
    // What is dialled asks for that space, of whoever takes the path for the node's.
    for space in [SPACE, "a b&space=c%#?"] {
        let dialled = url.dial(space);
        let (_, query) = dialled.split_once('?').expect("a dialled URL has a query");
        let target = Target::read(&format!("/peer?{query}"));
        let space = space.to_owned();
        assert_eq!(target, Target::Peer { space });
    }
}

fn lists(text: &str) {
    if let Some(nodes) = read_nodes(text.lines()) {
        assert_eq!(nodes.len(), text.lines().count());
        assert!(nodes.iter().all(|node| node.pin().is_some()));
    }
    let relays: Vec<Text> = text.lines().map(Text::from).collect();
    assert_eq!(check_relays(&relays).is_ok(), read_relays(&relays).is_ok());
}
