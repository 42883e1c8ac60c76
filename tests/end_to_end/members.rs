//! Members come and go, and the host follows the changes of access they make.

use holdfast::host::LinkKind;
use member::access;
use member::client::{Connection, Options};
use member::cutoff;
use member::identity::Account;
use member::randomness::{SystemRandomness, random_bytes};
use member::replica::{Replica, Write};
use minca_record::constitution::Visibility;
use minca_record::derive::invite_key;
use minca_record::version::Version;

use crate::kit::{Kit, WAIT, body, found, now, texts};

async fn push_all(connection: &mut Connection, replica: &mut Replica, versions: &[Version]) {
    for version in versions {
        connection.push(replica, version).await.unwrap();
    }
    connection.sync_until_level(replica, WAIT).await.unwrap();
}

async fn change(connection: &mut Connection, replica: &mut Replica, write: Write) {
    let version = replica.write(write, now()).unwrap();
    push_all(connection, replica, &[version]).await;
}

async fn note(connection: &mut Connection, replica: &mut Replica, text: &str) {
    let version = replica.create("app.note", body(text), now()).unwrap();
    push_all(connection, replica, &[version]).await;
}

/// Waits until a device reads these notes and no others.
async fn reads(connection: &mut Connection, replica: &mut Replica, notes: &[&str]) {
    let all = |replica: &Replica| texts(replica) == notes;
    connection.drive(replica, WAIT, all).await.unwrap();
}

/// Two join by an invite; one is removed, and not let in again once the key has changed; who stays
/// connected goes on under the new key.
async fn come_and_go(link: LinkKind) {
    let mut kit = Kit::start(link).await;
    let (account, space) = found(Visibility::Private);
    kit.carry(&space).await;
    let mut founder = kit.device(&account, &space, true);
    let mut to_founder = kit.connect(&mut founder).await;
    let secret = random_bytes(&mut SystemRandomness).unwrap();
    let invite = invite_key(&secret).did().to_string();
    let opened = access::invite(&invite, "editor", true);
    change(&mut to_founder, &mut founder, opened).await;

    let mut members = Vec::new();
    for initiates in [true, false] {
        let account = Account::new(&mut SystemRandomness).unwrap();
        let mut member = kit.device(&account, &space, initiates);
        let mut connection = kit.connect(&mut member).await;
        connection
            .sync_until_level(&mut member, WAIT)
            .await
            .unwrap();
        let join = access::join(space.id(), &account.did(), "editor", &secret);
        change(&mut connection, &mut member, join).await;
        let key = member.publish_member_key(now()).unwrap().unwrap();
        push_all(&mut connection, &mut member, &[key]).await;
        members.push((member, connection));
    }
    let (mut leaver, mut to_leaver) = members.pop().unwrap();
    let (mut stays, mut to_stays) = members.pop().unwrap();
    note(&mut to_leaver, &mut leaver, "by one who leaves").await;
    reads(&mut to_founder, &mut founder, &["by one who leaves"]).await;
    reads(&mut to_stays, &mut stays, &["by one who leaves"]).await;

    let removed = leaver.device().account().did();
    let cutoff = cutoff::of_account(&founder, &removed);
    let remove = access::remove(&removed.to_string(), cutoff);
    change(&mut to_founder, &mut founder, remove).await;
    // What it writes without having heard of that doesn't count.
    let late = leaver.create("app.note", body("too late"), now()).unwrap();
    to_leaver.push(&mut leaver, &late).await.unwrap();
    assert!(founder.gatekeeper().history().key_is_due());
    let changed = founder.change_key(now()).unwrap();
    push_all(&mut to_founder, &mut founder, &changed).await;
    to_leaver.close(&mut leaver).await;
    let again = Connection::open(&kit.url(), &mut leaver, Options::default()).await;
    let refused = again.err().unwrap().to_string();
    assert!(refused.contains("4003"), "{refused}");

    note(&mut to_founder, &mut founder, "under the new key").await;
    let both = ["by one who leaves", "under the new key"];
    reads(&mut to_stays, &mut stays, &both).await;
    note(&mut to_stays, &mut stays, "with the new key").await;
    let all = ["by one who leaves", "under the new key", "with the new key"];
    reads(&mut to_founder, &mut founder, &all).await;
    to_stays.close(&mut stays).await;
    to_founder.close(&mut founder).await;

    // Who comes later with what the founder hands on reads all that counts, after a restart too.
    kit.restart().await;
    let card = founder.space().clone();
    let mut second = kit.device(&account, &card, true);
    let mut to_second = kit.connect(&mut second).await;
    to_second.sync_until_level(&mut second, WAIT).await.unwrap();
    assert_eq!(texts(&second), all);
    to_second.close(&mut second).await;
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_come_and_go_in_one_process() {
    come_and_go(LinkKind::Channel).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn members_come_and_go_over_the_wire() {
    come_and_go(LinkKind::Encoded).await;
}
