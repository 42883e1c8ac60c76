//! The commands that change access, as people run them, each from a folder of their own.

use crate::club::Club;
use crate::running::{lines, ok, text};
use member::folder::MemberFolder;
use minca_record::json::{Object, Text, Value};

fn some(notes: &[&str]) -> Vec<Option<String>> {
    notes.iter().map(|note| Some((*note).to_owned())).collect()
}

fn roles_of(access: &Object, account: &str) -> Vec<String> {
    let members = access.get("members").and_then(Value::as_object).unwrap();
    let roles = members.get(account).and_then(Value::as_array);
    let roles = roles.unwrap_or_default().iter().filter_map(Value::as_str);
    roles.map(str::to_owned).collect()
}

fn is_member(access: &Object, account: &str) -> bool {
    let members = access.get("members").and_then(Value::as_object).unwrap();
    members.contains(account)
}

fn list<'a>(access: &'a Object, name: &str) -> &'a [Value] {
    access.get(name).and_then(Value::as_array).unwrap()
}

#[tokio::test]
async fn roles_are_defined_assigned_and_taken() {
    let mut club = Club::found(&["--public"]).await;
    let grant = "/role/assign=[[\"==\",\".role\",\"editor\"]]";
    let define = ["role", "define", "host", "--title", "Host"];
    let grants = [
        "--grant",
        "/member/remove",
        "--grant",
        grant,
        "--nest",
        "editor",
    ];
    let told = club.run(0, &[&define[..], &grants].concat()).await;
    assert!(told.contains("Defined the role host") && told.contains("holdfast member sync"));
    let host = club.with_role("host").await;
    let other = club.with_role("editor").await;
    club.sync(&[host]).await;
    let (host_account, other_account) = (club.account(host), club.account(other));
    let access = club.access(host).await;
    assert_eq!(roles_of(&access, &host_account), ["host"]);
    assert_eq!(roles_of(&access, &other_account), ["editor"]);
    assert_eq!(list(&access, "founders").len(), 1);
    let shown = club.run(host, &["access"]).await;
    for expected in [
        "founder",
        "host (this member)",
        "\"Host\"",
        "all that editor may",
        "/member/remove",
        "open",
    ] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }

    // What the policy doesn't let it.
    let refused = club
        .refused(host, &["role", "assign", &other_account, "host"])
        .await;
    let expected = format!("assigning host to {other_account}: ");
    assert!(refused.starts_with(&expected), "{refused}");
    assert!(
        refused.contains("Nothing was written")
            && refused.contains("no role of this account grants")
    );
    let refused = club
        .refused(other, &["role", "define", "mine", "--grant", "/"])
        .await;
    assert!(refused.contains("no role of this account grants"));
    club.run(host, &["role", "assign", "me", "editor"]).await;
    let refused = club
        .refused(0, &["role", "assign", &other_account, "nobody"])
        .await;
    assert!(refused.contains("no such role"));

    // The founder takes the role; what the other wrote meanwhile is withdrawn.
    club.note(other, "known").await;
    club.sync(&[host, other, 0]).await;
    club.run(0, &["role", "unassign", &other_account, "editor"])
        .await;
    club.note(other, "meanwhile").await;
    club.sync(&[0, other, 0]).await;
    for who in [0, other] {
        assert_eq!(club.notes(who).await, some(&["known"]));
    }
    let refused = club.refused(other, &["write", "app.note", "1"]).await;
    assert!(refused.contains("no member"));
    club.run(host, &["role", "leave", "editor"]).await;
    club.sync(&[host, 0]).await;
    assert_eq!(roles_of(&club.access(0).await, &host_account), ["host"]);
}

#[tokio::test]
async fn what_is_no_grant_account_or_space_is_told_as_that() {
    let club = Club::found(&["--public"]).await;
    for (arguments, expected) in [
        (
            &["role", "define", "a", "--grant", "record"][..],
            "/record/write",
        ),
        (&["role", "define", "a", "--grant", "/record=x"], "policy"),
        (
            &["role", "define", "a", "--grant", "/record=[[\"near\"]]"],
            "policy",
        ),
        (&["role", "define", "No Name"], "role's name"),
        (&["role", "assign", "bob", "editor"], "did:key"),
        (&["remove", "me"], "holdfast member leave"),
        (&["leave"], "nobody else"),
        (&["succeed", "b123"], "id of a space"),
        (&["relays", "http://relay.example"], "relays"),
        (&["keepers", "attic"], "did:key"),
        (&["key", "change"], "public"),
        (&["invite", "open", "nobody"], "no such role"),
        (
            &["invite", "close", "did:key:zDn"],
            "holdfast member access",
        ),
    ] {
        let told = club.refused(0, arguments).await;
        assert!(told.contains(expected), "{arguments:?}: {told}");
    }
    assert!(club.access(0).await.get("roles").is_some());
    assert_eq!(list(&club.access(0).await, "heads").len(), 0);
}

#[tokio::test]
async fn an_invite_is_joined_by_and_once_closed_lets_nobody_in() {
    let mut club = Club::found(&[]).await;
    let (invite, key) = club.invite(0, "editor").await;
    // Joining waits until the invite itself has come.
    let early = club.joins(&invite).await;
    let told = club.sync(&[early]).await;
    assert!(told.contains("invite hasn't come"));
    let told = club.refused(early, &["write", "app.note", "1"]).await;
    assert!(told.contains("no member"));
    club.sync(&[0]).await;
    assert!(club.sync(&[early]).await.contains("Joined as editor"));
    assert!(!club.sync(&[early]).await.contains("Joined"));
    let card = MemberFolder::open(&club.people[early])
        .unwrap()
        .spaces()
        .unwrap()
        .remove(0);
    assert_eq!(card.invite_secret, None);
    // The host came with the invite; it isn't this member's to hand on.
    assert_eq!(
        (card.nodes.len(), card.invited_nodes),
        (0, vec![club.host.url()])
    );
    club.note(early, "joined").await;
    club.sync(&[early, 0]).await;
    assert_eq!(club.notes(0).await, some(&["joined"]));

    // A link in a file, which has the invite in it.
    let file = club.temporary.path().join("invite.txt");
    std::fs::write(&file, format!("https://app.example/#invite={invite}\n")).unwrap();
    let by_link = club.joins(file.to_str().unwrap()).await;
    assert!(club.sync(&[by_link]).await.contains("Joined as editor"));

    let told = club.run(0, &["invite", "close", &invite]).await;
    assert!(told.contains(&key));
    club.sync(&[0]).await;
    let late = club.joins(&invite).await;
    let told = club.sync(&[late]).await;
    assert!(
        told.contains("Not joined") && told.contains("closed"),
        "{told}"
    );
    let invites = club.access(late).await;
    let invites = invites.get("invites").and_then(Value::as_object).unwrap();
    let opened = invites.get(&key).and_then(Value::as_object).unwrap();
    assert_eq!(opened.get("open"), Some(&Value::from(false)));

    // One to read writes nothing, and can't be closed.
    let viewed = lines(&club.run(0, &["invite", "view", "--json"]).await).remove(0);
    let viewed = text(&viewed, "invite").to_owned();
    let viewer = club.joins(&viewed).await;
    club.sync(&[viewer]).await;
    assert_eq!(club.notes(viewer).await, some(&["joined"]));
    let told = club.refused(viewer, &["write", "app.note", "1"]).await;
    assert!(told.contains("no member"));
    let told = club.refused(0, &["invite", "close", &viewed]).await;
    assert!(told.contains("only a key change"));
    let told = club.refused(viewer, &["join", "not an invite"]).await;
    assert!(told.contains("space card's file, or an invite"));
}

#[tokio::test]
async fn a_removal_leaves_what_it_covers_and_the_key_change_after_it_shuts_the_removed_out() {
    let mut club = Club::found(&[]).await;
    let leaver = club.with_role("editor").await;
    let stays = club.with_role("editor").await;
    club.note(leaver, "covered").await;
    club.sync(&[leaver, stays, 0]).await;
    let account = club.account(leaver);
    let told = club.run(0, &["remove", &account]).await;
    assert!(told.contains("holdfast member key change"));
    club.note(leaver, "meanwhile").await;
    club.sync(&[leaver]).await;
    let told = club.run(0, &["key", "change"]).await;
    assert!(!told.contains("due"), "{told}");
    assert!(!told.contains("without a box"), "{told}");
    club.note(0, "new").await;
    // With the key it had, the host doesn't let the removed member in any more.
    club.sync(&[0]).await;
    assert!(club.refused(leaver, &["sync"]).await.contains("level"));
    assert!(!club.notes(leaver).await.contains(&Some("new".to_owned())));
    // Nor one that was away meanwhile, who gets back in by the invite of another member.
    assert!(club.refused(stays, &["sync"]).await.contains("level"));
    let view = lines(&club.run(0, &["invite", "view", "--json"]).await).remove(0);
    let told = club.run(stays, &["join", text(&view, "invite")]).await;
    assert!(
        told.contains("already") && told.contains("keys now: 2"),
        "{told}"
    );
    club.sync(&[stays]).await;
    assert_eq!(club.notes(stays).await, some(&["covered", "new"]));
    club.note(stays, "under the new key").await;
    club.sync(&[stays, 0]).await;
    let all = some(&["covered", "new", "under the new key"]);
    assert_eq!(club.notes(0).await, all);
    let access = club.access(stays).await;
    assert!(!is_member(&access, &account));
    assert_eq!(access.get("keyDue"), Some(&Value::from(false)));
    assert_eq!(
        (list(&access, "keys").len(), list(&access, "heldKeys").len()),
        (2, 2)
    );

    // Who is invited now gets the new key alone, and with it the earlier one.
    let late = club.with_role("editor").await;
    assert_eq!(club.notes(late).await, all);
    // Another device of the account, by its card.
    let card = club.temporary.path().join("card.json");
    let card = card.to_str().unwrap();
    club.run(stays, &["card", card, "--with-account"]).await;
    let second = club.temporary.path().join("second");
    ok(&second, &["join", card, "--node", &club.host.url()]).await;
    ok(&second, &["sync"]).await;
    assert!(ok(&second, &["list"]).await.contains("under the new key"));
}

#[tokio::test]
async fn a_reader_that_has_no_box_yet_gets_one_at_a_sync() {
    let mut club = Club::found(&[]).await;
    let (invite, _) = club.invite(0, "editor").await;
    club.sync(&[0]).await;
    let member = club.joins(&invite).await;
    assert!(club.sync(&[member]).await.contains("Joined"));
    // The founder changes the key without having heard of it.
    let told = club.run(0, &["key", "change"]).await;
    assert!(!told.contains("without a box"), "{told}");
    club.note(0, "new").await;
    let told = club.run(0, &["key", "share"]).await;
    assert!(told.contains("has the current key"));
    // Its own sync tells it of the new member, and hands on the key.
    let synced = lines(&club.run(0, &["sync", "--json"]).await).remove(0);
    assert_eq!(synced.get("wrote"), Some(&Value::from(1_u32)));
    assert_eq!(list(&synced, "told"), []);
    let told = club.run(0, &["key", "share"]).await;
    assert!(told.contains("has the current key"));
    assert_eq!(list(&club.access(0).await, "keys").len(), 2);
    // On the old key the host doesn't let it in any more: the box is in the founder's folder.
    let boxed = MemberFolder::open(&club.people[0]).unwrap();
    let entry = boxed.spaces().unwrap().remove(0);
    let replica = boxed.replica(&entry).unwrap();
    assert!(replica.readers_without_box().is_empty());
    assert_eq!(replica.readers().len(), 2);
}

#[tokio::test]
async fn a_lost_devices_key_is_revoked_and_what_it_signs_afterwards_is_withdrawn() {
    let mut club = Club::found(&["--public"]).await;
    let member = club.with_role("editor").await;
    let card = club.temporary.path().join("card.json");
    let card = card.to_str().unwrap();
    club.run(member, &["card", card, "--with-account"]).await;
    let lost = club.temporary.path().join("lost");
    ok(&lost, &["join", card, "--node", &club.host.url()]).await;
    ok(&lost, &["sync"]).await;
    ok(&lost, &["write", "app.note", "\"known\""]).await;
    ok(&lost, &["sync"]).await;
    club.sync(&[member]).await;
    let key = MemberFolder::open(&lost)
        .unwrap()
        .device()
        .did()
        .to_string();
    ok(&lost, &["write", "app.note", "\"by the finder\""]).await;
    ok(&lost, &["sync"]).await;
    club.run(member, &["key", "revoke", &key]).await;
    club.sync(&[member, 0]).await;
    for who in [0, member] {
        assert_eq!(club.notes(who).await, some(&["known"]));
    }
    let access = club.access(0).await;
    let revoked = list(&access, "revoked")[0].as_object().unwrap();
    assert_eq!(text(revoked, "key"), key);
    assert!(club.run(0, &["access"]).await.contains("Revoked keys"));

    // One's own device goes on under a fresh key.
    let own = club.device(member);
    let told = club.run(member, &["key", "revoke", &own]).await;
    assert!(told.contains("fresh one"));
    assert_ne!(club.device(member), own);
    club.note(member, "under a fresh key").await;
    club.sync(&[member, 0]).await;
    assert_eq!(club.notes(0).await, some(&["known", "under a fresh key"]));
    // With nothing covered, all it signed goes.
    club.run(member, &["key", "revoke", &key, "--without-cutoff"])
        .await;
    club.sync(&[member, 0]).await;
    assert_eq!(club.notes(0).await, some(&["under a fresh key"]));
}

#[tokio::test]
async fn a_fork_is_proven_and_withdrawn_from_there_on() {
    let mut club = Club::found(&["--public"]).await;
    let member = club.with_role("editor").await;
    let told = club.run(0, &["prove-forks"]).await;
    assert!(told.contains("No key's line is forked"));
    club.note(member, "whole").await;
    // A copy of the folder goes on from the same place.
    let copy = club.temporary.path().join("copy");
    copy_folder(&club.people[member], &copy);
    club.note(member, "one").await;
    ok(&copy, &["write", "app.note", "\"other\""]).await;
    club.sync(&[member]).await;
    ok(&copy, &["sync"]).await;
    club.sync(&[0]).await;
    assert_eq!(club.notes(0).await, some(&["one", "other", "whole"]));
    let told = club.run(0, &["prove-forks"]).await;
    assert!(told.contains("app.note at place 1"), "{told}");
    assert_eq!(club.notes(0).await, some(&["whole"]));
    assert_eq!(list(&club.access(0).await, "forks").len(), 1);
    assert!(club.run(0, &["access"]).await.contains("Forked lines"));
    club.sync(&[0, member]).await;
    assert_eq!(club.notes(member).await, some(&["whole"]));
    club.note(member, "under a fresh key").await;
}

fn copy_folder(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }
}

#[tokio::test]
async fn a_founder_hands_over_steps_down_and_the_space_goes_on_elsewhere() {
    let mut club = Club::found(&["--public"]).await;
    let steward = ["role", "define", "steward", "--grant", "/"];
    club.run(0, &steward).await;
    let next = club.with_role("steward").await;
    club.run(0, &["role", "assign", "me", "editor"]).await;
    club.run(0, &["step-down"]).await;
    assert!(club.refused(0, &["step-down"]).await.contains("founder"));
    club.sync(&[0, next]).await;
    let first = club.account(0);
    let access = club.access(next).await;
    assert_eq!(list(&access, "founders").len(), 0);
    assert_eq!(roles_of(&access, &first), ["editor"]);

    let relays = ["wss://relay.example", "nostr+wss://other.example"];
    club.run(next, &[&["relays"], &relays[..]].concat()).await;
    let keeper = format!("{}=attic", club.host.node);
    club.run(next, &["keepers", &keeper, "--copies", "2"]).await;
    let access = club.access(next).await;
    let named: Vec<&str> = list(&access, "relays")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(named, relays);
    assert_eq!(access.get("copies"), Some(&Value::from(2_u32)));
    let shown = club.run(next, &["access"]).await;
    assert!(shown.contains("Keepers (copies: 2)") && shown.contains("attic"));
    club.run(next, &["relays", "--none"]).await;
    assert_eq!(list(&club.access(next).await, "relays").len(), 0);

    let old = text(&club.access(next).await, "space").to_owned();
    let founded = club
        .run(
            next,
            &["found", "Anew", "--public", "--succeeds", &old, "--json"],
        )
        .await;
    let founded = &lines(&founded)[0];
    assert_eq!(text(founded, "succeeds"), old);
    let successor = text(founded, "id").to_owned();
    let in_old = ["--space", &old];
    club.run(next, &[&["succeed", &successor], &in_old[..]].concat())
        .await;
    let access = club
        .run(next, &[&["access", "--json"], &in_old[..]].concat())
        .await;
    let access = &lines(&access)[0];
    let successors = access.get("successors").and_then(Value::as_object).unwrap();
    let by = successors
        .get(&successor)
        .and_then(Value::as_array)
        .unwrap();
    assert_eq!(by, [Value::from(club.account(next))]);

    // The old founder can be removed now, and leaves by itself instead.
    club.run(0, &["leave"]).await;
    club.sync(&[0]).await;
    club.run(next, &[&["sync"], &in_old[..]].concat()).await;
    let access = club
        .run(next, &[&["access", "--json"], &in_old[..]].concat())
        .await;
    assert!(!is_member(&lines(&access)[0], &first));
    let removed = [&["remove", &first], &in_old[..]].concat();
    assert!(club.refused(next, &removed).await.contains("no member"));
}

#[tokio::test]
async fn of_the_nodes_an_invite_named_only_the_keepers_are_dialled_once_there_are_any() {
    let mut club = Club::found(&["--public"]).await;
    let member = club.with_role("editor").await;
    let elsewhere = member::identity::Account::from_seed([77; 16]).did();
    club.run(0, &["keepers", &elsewhere.to_string()]).await;
    club.sync(&[0, member]).await;
    let told = club.refused(member, &["sync"]).await;
    assert!(told.contains("no host yet"), "{told}");
    let folder = MemberFolder::open(&club.people[member]).unwrap();
    let entry = folder.spaces().unwrap().remove(0);
    let replica = folder.replica(&entry).unwrap();
    let state = replica.gatekeeper().history().current();
    assert_eq!(state.keepers[0].did, Text::from(elsewhere.to_string()));
}

#[tokio::test]
async fn a_collection_is_defined_and_written_by_its_rules() {
    let mut club = Club::found(&[]).await;
    let member = club.with_role("editor").await;
    let definition = r#"{"name":"app.vote","version":1,"schema":{"type":"object"},"rules":{"onePer":["@author"],"final":true}}"#;
    club.run(0, &["define", definition]).await;
    club.sync(&[0, member]).await;
    for who in [0, member] {
        club.run(who, &["write", "app.vote", "{\"for\":\"lunch\"}"])
            .await;
        let refused = club
            .refused(who, &["write", "app.vote", "{\"for\":\"tea\"}"])
            .await;
        assert!(refused.contains("final"), "{refused}");
    }
    club.sync(&[member, 0]).await;
    let votes = club.run(0, &["list", "app.vote", "--json"]).await;
    assert_eq!(lines(&votes).len(), 2);
    let refused = club.refused(0, &["define", "{\"name\":\"sys.x\"}"]).await;
    assert!(refused.contains("`name` must be"), "{refused}");
    club.run(0, &["delete", "collection:app.vote"]).await;
    club.run(0, &["write", "app.vote", "{\"for\":\"tea\"}"])
        .await;
}
