//! Two devices that are never online together exchange records through a host.

use holdfast::host::LinkKind;
use minca_record::constitution::Visibility;

use crate::kit::{Kit, WAIT, body, found, now, texts};

const RECORDS: usize = 500;

/// The first writes, edits and deletes; the host is restarted; the second joins
/// late, has what counts, and changes some; the first comes back and has that.
async fn meet(visibility: Visibility, initiates: bool, link: LinkKind) {
    meet_at(Kit::start(link).await, visibility, initiates).await;
}

/// As [`meet`], at a host that was started.
pub async fn meet_at(mut kit: Kit, visibility: Visibility, initiates: bool) {
    let (account, space) = found(visibility);
    kit.carry(&space).await;
    kit.secret("written by the first");
    let mut first = kit.device(&account, &space, initiates);
    let mut connection = kit.connect(&mut first).await;
    let mut keys = Vec::new();
    for n in 0..RECORDS {
        let version = first
            .create(
                "app.note",
                body(&format!("written by the first {n:03}")),
                now(),
            )
            .unwrap();
        keys.push(version.key().to_owned());
        if n % 2 == 0 {
            connection.push(&mut first, &version).await.unwrap();
        }
    }
    connection.sync_until_level(&mut first, WAIT).await.unwrap();
    for key in &keys[..40] {
        let version = first
            .edit(key, body(&format!("edited {key}")), now())
            .unwrap();
        connection.push(&mut first, &version).await.unwrap();
    }
    for key in &keys[30..60] {
        let version = first.delete(key, now()).unwrap();
        connection.push(&mut first, &version).await.unwrap();
    }
    connection.sync_until_level(&mut first, WAIT).await.unwrap();
    connection.close(&mut first).await;
    assert_eq!(texts(&first).len(), RECORDS - 30);

    kit.restart().await;

    let mut second = kit.device(&account, &space, !initiates);
    let mut connection = kit.connect(&mut second).await;
    connection
        .sync_until_level(&mut second, WAIT)
        .await
        .unwrap();
    assert_eq!(texts(&second), texts(&first));
    assert_eq!(
        second.holdings().len(),
        first.holdings().len(),
        "stubs come along"
    );
    for key in &keys[100..110] {
        let version = second
            .edit(key, body(&format!("by the second {key}")), now())
            .unwrap();
        connection.push(&mut second, &version).await.unwrap();
    }
    connection
        .sync_until_level(&mut second, WAIT)
        .await
        .unwrap();
    connection.drop_silently(&mut second);

    let mut connection = kit.connect(&mut first).await;
    connection.sync_until_level(&mut first, WAIT).await.unwrap();
    connection.close(&mut first).await;
    assert_eq!(texts(&first), texts(&second));
    assert_eq!(
        texts(&first)
            .iter()
            .filter(|text| text.starts_with("by the second"))
            .count(),
        10
    );
    kit.finish().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_devices_meet_in_a_private_space_the_device_initiating() {
    meet(Visibility::Private, true, LinkKind::Channel).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_devices_meet_in_a_private_space_the_host_initiating() {
    meet(Visibility::Private, false, LinkKind::Encoded).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_devices_meet_in_a_public_space_the_device_initiating() {
    meet(Visibility::Public, true, LinkKind::Encoded).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_devices_meet_in_a_public_space_the_host_initiating() {
    meet(Visibility::Public, false, LinkKind::Channel).await;
}

/// While both are connected, what one writes reaches the other without a hello.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_is_passed_on_to_the_other_device_at_once() {
    for link in [LinkKind::Channel, LinkKind::Encoded] {
        let mut kit = Kit::start(link).await;
        let (account, space) = found(Visibility::Private);
        kit.carry(&space).await;
        let (mut a, mut b) = (
            kit.device(&account, &space, true),
            kit.device(&account, &space, false),
        );
        let (mut to_a, mut to_b) = (kit.connect(&mut a).await, kit.connect(&mut b).await);
        to_a.sync_until_level(&mut a, WAIT).await.unwrap();
        to_b.sync_until_level(&mut b, WAIT).await.unwrap();
        let version = a.create("app.note", body("live"), now()).unwrap();
        to_a.push(&mut a, &version).await.unwrap();
        let id = version.id();
        to_b.drive(&mut b, WAIT, |b| b.holdings().holds(&id))
            .await
            .unwrap();
        let host = kit.host().did();
        to_a.drive(&mut a, WAIT, |a| a.holdings().is_stored_by(&id, &host))
            .await
            .unwrap();
        to_a.close(&mut a).await;
        to_b.close(&mut b).await;
        kit.finish().await;
    }
}
