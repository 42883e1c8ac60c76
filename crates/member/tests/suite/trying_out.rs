//! `holdfast try`, against a small host of the tests' own.

use indicatif::ProgressDrawTarget;
use member::try_out::{BucketObject, Progress, TryOptions, try_out};
use member::try_out_told::Teller;
use minca_record::json::{MESSAGE_DEPTH, read};
use minca_record::url::NodeUrl;

use crate::support::{Host, Manner};

#[tokio::test]
async fn everything_a_newcomer_should_see_happens_in_order() {
    let host = Host::empty(Manner::Well).await;
    let url = NodeUrl::parse(&host.url()).unwrap();
    let carry = async |space: String| {
        host.keep(read(space.as_bytes(), MESSAGE_DEPTH).unwrap())
            .await;
        Ok(())
    };
    let objects = vec![BucketObject {
        key: "a/b/000001-c.seg".to_owned(),
        bytes: 7,
    }];
    let bucket = async || Ok(objects.clone());
    let mut seen = Vec::new();
    let mut told = Vec::new();
    let mut teller = Teller::with_bar_on(&mut told, ProgressDrawTarget::hidden());
    let mut progress = |progress: &Progress| {
        teller.tell(progress).unwrap();
        seen.push(progress.clone());
    };
    let options = TryOptions::default();
    let report = try_out(&url, options, carry, bucket, &mut progress)
        .await
        .unwrap();
    teller.tell_end(&report).unwrap();
    assert_eq!((report.records, report.versions), (199, 202));
    assert_eq!(report.bucket, objects);

    let mut steps: Vec<_> = seen.iter().map(std::mem::discriminant).collect();
    steps.dedup();
    assert_eq!(steps.len(), 9, "{seen:?}");
    let last_wrote = seen
        .iter()
        .rev()
        .find(|p| matches!(p, Progress::Wrote { .. }))
        .unwrap();
    assert_eq!(
        *last_wrote,
        Progress::Wrote {
            written: 200,
            stored: 200,
            of: 200
        }
    );
    let told = String::from_utf8(told).unwrap();
    for line in [
        "host stored every one",
        "all 200 records",
        "000001-c.seg",
        "199 records",
    ] {
        assert!(told.contains(line), "{line:?} is not in:\n{told}");
    }
    assert_eq!(told.matches("stored every one").count(), 1);
}

#[tokio::test]
async fn a_host_that_does_not_carry_the_space_is_told() {
    let host = Host::empty(Manner::Well).await;
    let url = NodeUrl::parse(&host.url()).unwrap();
    let carry = async |_: String| anyhow::bail!("no room");
    let bucket = async || Ok(Vec::new());
    let error = try_out(&url, TryOptions::default(), carry, bucket, &mut |_| {}).await;
    let error = format!("{:#}", error.unwrap_err());
    assert_eq!(error, "giving the host the space: no room");
}
