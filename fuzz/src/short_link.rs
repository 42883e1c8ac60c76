//! Short links: what is read is written in a form that reads the same, in another link as well.

use minca_access::{MAX_LINK_PLACES, ShortLink, invite_in};

/// One run: the bytes as a link's text, and as what stands behind a good code.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    check(text);
    check(&format!("{}@{text}", "A".repeat(43)));
}

fn check(text: &str) {
    let Ok(link) = ShortLink::parse(text) else {
        return;
    };
    assert!(link.places().len() <= MAX_LINK_PLACES);
    let written = link.to_string();
    assert_eq!(written[..43], text[..43]);
    let within = format!("https://app.example/#invite={written}&more");
    assert_eq!(invite_in(&within), written);
    assert_eq!(ShortLink::parse(&written), Ok(link));
}
