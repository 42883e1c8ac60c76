//! What a person is told who gives a command that is refused, or that changes less than it seems.

use minca_record::json::Value;

use crate::club::Club;
use crate::running::{error, ok};

const FOUNDING: &str = "There is no role";

#[tokio::test]
async fn a_refusal_names_the_command_that_no_role_grants_and_its_arguments() {
    let mut club = Club::found(&["--public"]).await;
    let editor = club.with_role("editor").await;
    let itself = club.account(editor);
    for (arguments, command) in [
        (
            &["role", "define", "a"][..],
            "/role/define with {\"role\":\"a\"}",
        ),
        (&["role", "assign", &itself, "editor"], "/role/assign with"),
        (&["relays", "--none"], "/space/relays with {}"),
    ] {
        let told = club.refused(editor, arguments).await;
        let expected = format!("no role of this account grants {command}");
        assert!(told.contains(&expected), "{arguments:?}: {told}");
    }
}

#[tokio::test]
async fn a_change_that_was_made_before_is_told_as_that() {
    let mut club = Club::found(&["--public"]).await;
    let editor = club.with_role("editor").await;
    let account = club.account(editor);
    let again = ["role", "assign", &account, "editor"];
    let told = club.run(0, &again).await;
    assert!(told.contains("had the role editor before"), "{told}");

    let (_, key) = club.invite(0, "editor").await;
    let close = ["invite", "close", &key];
    assert!(!club.run(0, &close).await.contains("closed before"));
    assert!(club.run(0, &close).await.contains("closed before"));

    let own = club.device(editor);
    club.note(editor, "signed").await;
    let revoke = ["key", "revoke", &own];
    assert!(!club.run(editor, &revoke).await.contains("revoked before"));
    assert!(club.run(editor, &revoke).await.contains("revoked before"));
}

#[tokio::test]
async fn a_role_that_gives_nothing_is_told_as_that() {
    let club = Club::found(&["--public"]).await;
    let define = ["role", "define", "a", "--grant"];
    let told = club.run(0, &[&define[..], &["/record"]].concat()).await;
    assert!(!told.contains("No peer checks"), "{told}");
    let told = club
        .run(0, &[&define[..], &["/recrd/write"]].concat())
        .await;
    assert!(told.contains("No peer checks /recrd/write"), "{told}");
    assert!(told.contains("/record/write"), "{told}");
    let told = club
        .run(0, &["role", "define", "b", "--nest", "editr"])
        .await;
    assert!(told.contains(&format!("{FOUNDING} editr yet")), "{told}");
    let told = club
        .run(0, &["role", "define", "b", "--nest", "editor"])
        .await;
    assert!(!told.contains(FOUNDING), "{told}");
    let told = club
        .refused(0, &["role", "define", "b", "--nest", "b"])
        .await;
    assert!(told.contains("other roles than b itself"), "{told}");
}

#[tokio::test]
async fn a_key_of_another_account_is_not_revoked() {
    let mut club = Club::found(&["--public"]).await;
    let editor = club.with_role("editor").await;
    club.note(editor, "signed").await;
    club.sync(&[editor, 0]).await;
    let (account, device) = (club.account(editor), club.device(editor));
    for other in [&account, &device] {
        let told = club.refused(0, &["key", "revoke", other]).await;
        assert!(told.contains("another account"), "{told}");
    }
    let stray = club.host.node.to_string();
    let told = club.run(0, &["key", "revoke", &stray]).await;
    assert!(told.contains("Nothing signed with that key"), "{told}");
    let access = club.access(0).await;
    let revoked = access.get("revoked").and_then(Value::as_array);
    assert_eq!(revoked.map(<[Value]>::len), Some(1));
}

#[tokio::test]
async fn access_lists_the_keys_an_account_signs_with() {
    let mut club = Club::found(&["--public"]).await;
    club.note(0, "signed").await;
    let first = club.device(0);
    club.run(0, &["key", "revoke", &first]).await;
    let shown = club.run(0, &["access"]).await;
    assert!(shown.contains(&format!("  {first}\n")), "{shown}");
    assert!(shown.contains(&format!("  {}  (this device)\n", club.device(0))));
    let editor = club.with_role("editor").await;
    assert!(
        !club
            .run(editor, &["access"])
            .await
            .contains("(this device)\n  ")
    );
    let devices = club.access(0).await;
    let devices = devices.get("devices").and_then(Value::as_array);
    assert_eq!(devices.map(<[Value]>::len), Some(2));
}

#[tokio::test]
async fn a_role_called_founder_is_told_apart_from_a_founder() {
    let mut club = Club::found(&["--public"]).await;
    club.run(0, &["role", "define", "founder"]).await;
    let other = club.with_role("founder").await;
    let shown = club.run(0, &["access"]).await;
    let other = format!("{}  founder (a role of that name)", club.account(other));
    assert!(shown.contains(&other), "{shown}");
    let own = format!("{}  founder (this member)", club.account(0));
    assert!(shown.contains(&own), "{shown}");
}

#[tokio::test]
async fn the_last_founder_that_goes_is_told_what_that_means() {
    let mut club = Club::found(&["--public"]).await;
    club.with_role("editor").await;
    let told = club.run(0, &["step-down"]).await;
    assert!(told.contains("the last founder"), "{told}");
}

#[tokio::test]
async fn a_member_whose_key_lets_it_in_no_more_is_told_what_helps() {
    let mut club = Club::found(&[]).await;
    let editor = club.with_role("editor").await;
    let removed = club.account(editor);
    club.run(0, &["remove", &removed]).await;
    let told = club.run(0, &["key", "change"]).await;
    assert!(!told.contains("is due for a change"), "{told}");
    club.sync(&[0]).await;
    let own = ok(&club.people[editor], &["access"]).await;
    assert!(!own.contains("holdfast member key change"), "{own}");
}

#[tokio::test]
async fn what_is_no_invite_no_file_and_no_relay_is_named() {
    let club = Club::found(&["--public"]).await;
    let nobody = club.temporary.path().join("nobody");
    let told = error(&nobody, &["join", "card.jsn"]).await;
    assert!(
        told.contains("\"card.jsn\" is no file that is there"),
        "{told}"
    );
    assert!(told.contains("`invite=`"), "{told}");
    let told = club.refused(0, &["invite", "close", "nonsense"]).await;
    assert!(told.contains("did:key:zDn"), "{told}");
    let relays = ["relays", "wss://relay.example", "relay.example"];
    let told = club.refused(0, &relays).await;
    assert!(told.contains("the relay \"relay.example\""), "{told}");
    let own = club.access(0).await;
    let own = own.get("space").and_then(Value::as_str).unwrap_or_default();
    let told = club.refused(0, &["succeed", own]).await;
    assert!(told.contains("another space than this one"), "{told}");
}
