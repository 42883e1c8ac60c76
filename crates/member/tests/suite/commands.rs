//! The commands, as a person runs them, against a small host of the tests' own.

use crate::running::{error, lines, ok, text};
use crate::support::{Host, Manner};
use member::folder::MemberFolder;
use minca_record::json::{Object, Value};

#[tokio::test]
async fn a_space_goes_from_one_folder_over_a_host_to_another() {
    let temporary = tempfile::tempdir().unwrap();
    let (first, second) = (
        temporary.path().join("first"),
        temporary.path().join("second"),
    );
    ok(&first, &["init"]).await;
    ok(&first, &["found", "Our notes"]).await;
    let mut keys = Vec::new();
    for body in ["{\"text\":\"one\"}", "{\"text\":\"two\"}", "\"three\""] {
        let wrote = ok(&first, &["write", "app.note", body, "--json"]).await;
        keys.push(text(&lines(&wrote)[0], "key").to_owned());
    }
    let ending = &keys[1][keys[1].len() - 6..];
    ok(&first, &["edit", ending, "{\"text\":\"two again\"}"]).await;
    ok(&first, &["delete", &keys[2]]).await;

    let space = MemberFolder::open(&first)
        .unwrap()
        .spaces()
        .unwrap()
        .remove(0)
        .space;
    let host = Host::start(space.as_handed_around(), Manner::Well).await;
    let unpinned = format!("ws://{}/peer", host.address);
    let synced = ok(&first, &["sync", "--node", &unpinned, "--json"]).await;
    let synced = &lines(&synced)[0];
    assert_eq!(text(synced, "node"), host.node.to_string());
    assert_eq!(synced.get("unconfirmed"), Some(&Value::from(0u32)));
    // The node that was met is the one to meet from now on.
    let nodes = MemberFolder::open(&first)
        .unwrap()
        .spaces()
        .unwrap()
        .remove(0)
        .nodes;
    assert_eq!(nodes, [host.url()]);

    let card = temporary.path().join("card.json");
    let card = card.to_str().unwrap();
    ok(&first, &["card", card, "--with-account"]).await;
    ok(&second, &["join", card]).await;
    ok(&second, &["sync"]).await;
    let listed = ok(&second, &["list", "--json"]).await;
    let bodies: Vec<Option<Value>> = lines(&listed)
        .into_iter()
        .map(|mut record| record.remove("body"))
        .collect();
    assert_eq!(bodies.len(), 2);
    assert!(bodies.contains(&Some(Object::from([("text", "two again")]).into())));
    assert_eq!(ok(&first, &["list", "--json"]).await.lines().count(), 2);
    assert_eq!(
        text(&lines(&ok(&second, &["spaces", "--json"]).await)[0], "name"),
        "Our notes"
    );

    // The second device is the same account and writes too.
    ok(&second, &["edit", &keys[0], "\"from the second\""]).await;
    ok(&second, &["sync"]).await;
    ok(&first, &["sync"]).await;
    assert!(ok(&first, &["list"]).await.contains("from the second"));
}

#[tokio::test]
async fn what_can_not_be_done_says_why_and_what_to_do() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().join("member");
    assert!(
        error(&folder, &["list"])
            .await
            .contains("holdfast member init")
    );
    ok(&folder, &["init"]).await;
    assert!(
        error(&folder, &["init"])
            .await
            .contains("lives here already")
    );
    let no_space = error(&folder, &["list"]).await;
    assert!(no_space.contains("in no space yet"));
    assert!(no_space.contains("holdfast member found"));
    assert!(no_space.contains("holdfast member join"));
    ok(&folder, &["found", "One"]).await;
    assert!(error(&folder, &["sync"]).await.contains("--node"));
    assert!(
        error(&folder, &["sync", "--node", "http://x"])
            .await
            .contains("wss://")
    );
    assert!(
        error(&folder, &["write", "app.note", "not json"])
            .await
            .contains("JSON")
    );
    assert!(
        error(&folder, &["edit", "nothing", "1"])
            .await
            .contains("\"nothing\"")
    );
    ok(&folder, &["found", "Two", "--public"]).await;
    assert!(error(&folder, &["list"]).await.contains("--space"));
    let spaces = lines(&ok(&folder, &["spaces", "--json"]).await);
    let id = text(&spaces[1], "id");
    ok(&folder, &["write", "app.note", "1", "--space", &id[..10]]).await;
    assert!(ok(&folder, &["space", "--space", id]).await.contains(id));
}

#[tokio::test]
async fn a_space_as_a_host_is_given_it_holds_no_key() {
    let temporary = tempfile::tempdir().unwrap();
    ok(temporary.path(), &["init"]).await;
    let founded = ok(temporary.path(), &["found", "Secret", "--json"]).await;
    let space = ok(temporary.path(), &["space"]).await;
    assert_eq!(founded, space);
    let key = MemberFolder::open(temporary.path())
        .unwrap()
        .spaces()
        .unwrap()
        .remove(0);
    let key = minca_record::base64url::encode(key.space.current_key().unwrap().bytes());
    assert!(!space.contains(&key) && !space.contains("spaceKey"));
}
