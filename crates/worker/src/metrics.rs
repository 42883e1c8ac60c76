//! What a worker counts (08 §21). No label names a space, a DID or an address.

use engine::{Answer, Count};
use prometheus::{
    Histogram, HistogramOpts, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};

/// A worker's metrics.
#[derive(Clone, Debug)]
pub struct WorkerMetrics {
    /// Versions by the answer they got: stands, withdrawn, unsettled, later, refused, held.
    pub versions: IntCounterVec,
    /// Versions refused, by the protocol's reason.
    pub refusals: IntCounterVec,
    /// Seconds from a version's arrival to its `stored`.
    pub acknowledged: Histogram,
    /// What went over a limit, by the limit.
    pub limited: IntCounterVec,
    /// Commits that failed; what they held was judged again.
    pub commits_failed: IntCounter,
    /// Versions that were judged well and that the store could not take.
    pub unplaceable: IntCounter,
    /// Spaces by temperature: `open` are in memory, the rest cost rows alone.
    pub spaces: IntGaugeVec,
    /// Shards whose lease this worker holds.
    pub shards: IntGauge,
    /// 1 while the last attempt to write to the bucket failed, else 0.
    pub flush_failing: IntGauge,
    /// Segments written.
    pub segments: IntCounter,
    /// Rounds of writing to the bucket that failed and are made again.
    pub flushes_failed: IntCounter,
}

impl WorkerMetrics {
    /// Makes the metrics and registers them.
    ///
    /// # Errors
    /// Where the registry has one of these names already.
    pub fn register(registry: &Registry) -> prometheus::Result<WorkerMetrics> {
        let counters = |name: &str, help: &str, label: &str| {
            IntCounterVec::new(Opts::new(name, help), &[label])
        };
        let buckets = vec![
            0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
        ];
        let acknowledged = HistogramOpts::new(
            "minca_host_ack_seconds",
            "From a version's arrival to its stored",
        )
        .buckets(buckets);
        let metrics = WorkerMetrics {
            versions: counters(
                "minca_host_versions_total",
                "Versions by the answer they got",
                "answer",
            )?,
            refusals: counters(
                "minca_host_refusals_total",
                "Versions refused, by reason",
                "reason",
            )?,
            acknowledged: Histogram::with_opts(acknowledged)?,
            limited: counters(
                "minca_host_sync_limited_total",
                "What went over a limit of sync",
                "limit",
            )?,
            commits_failed: IntCounter::new(
                "minca_host_commits_failed_total",
                "Commits that failed",
            )?,
            unplaceable: IntCounter::new(
                "minca_host_unplaceable_total",
                "Versions the store could not take",
            )?,
            spaces: IntGaugeVec::new(
                Opts::new("minca_host_spaces", "Spaces by temperature"),
                &["temperature"],
            )?,
            shards: IntGauge::new("minca_host_shards", "Shards whose lease this process holds")?,
            flush_failing: IntGauge::new(
                "minca_host_flush_failing",
                "1 while the last attempt to write to the bucket failed",
            )?,
            segments: IntCounter::new(
                "minca_host_segments_total",
                "Segments written to the bucket",
            )?,
            flushes_failed: IntCounter::new(
                "minca_host_flushes_failed_total",
                "Rounds of writing to the bucket that failed",
            )?,
        };
        registry.register(Box::new(metrics.versions.clone()))?;
        registry.register(Box::new(metrics.refusals.clone()))?;
        registry.register(Box::new(metrics.acknowledged.clone()))?;
        registry.register(Box::new(metrics.limited.clone()))?;
        registry.register(Box::new(metrics.commits_failed.clone()))?;
        registry.register(Box::new(metrics.unplaceable.clone()))?;
        registry.register(Box::new(metrics.spaces.clone()))?;
        registry.register(Box::new(metrics.shards.clone()))?;
        registry.register(Box::new(metrics.flush_failing.clone()))?;
        registry.register(Box::new(metrics.segments.clone()))?;
        registry.register(Box::new(metrics.flushes_failed.clone()))?;
        Ok(metrics)
    }

    /// Counts what an engine counted.
    pub(crate) fn count(&self, count: Count) {
        match count {
            Count::Answer(answer) => self.versions.with_label_values(&[word(answer)]).inc(),
            Count::Refused(reason) => self.refusals.with_label_values(&[reason]).inc(),
            Count::Acknowledged(millis) => self.acknowledged.observe(millis as f64 / 1_000.0),
            Count::Limited(limit) => self.limited.with_label_values(&[limit]).inc(),
            Count::CommitFailed => self.commits_failed.inc(),
            Count::Unplaceable => self.unplaceable.inc(),
        }
    }
}

fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Stands => "stands",
        Answer::Withdrawn => "withdrawn",
        Answer::Unsettled => "unsettled",
        Answer::Later => "later",
        Answer::Refused => "refused",
        Answer::Held => "held",
    }
}
