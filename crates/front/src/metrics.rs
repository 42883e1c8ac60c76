//! What a front-end counts (08 §21). No label holds an id, a DID or an address.

use prometheus::{
    HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry,
};
use std::time::Duration;

/// A front-end's metrics. Cheap to clone; clones count together.
#[derive(Clone, Debug)]
pub struct FrontMetrics {
    /// `minca_host_sockets{state}`: `handshake` until admitted, then `open`, then
    /// `closing` while a close waits for its answer.
    pub sockets: IntGaugeVec,
    /// `minca_host_handshakes_total{result}`: `admitted`, or why not: `no_space`,
    /// `no_hello`, `malformed`, `refused` (nobody may tell which proof failed, so neither
    /// do we), `by_worker`, `too_big`, `framing`, `shutdown`, `left`, `failed`.
    pub handshakes: IntCounterVec,
    /// `minca_host_limited_total{limit}`: a limit of 04 §7 that took effect.
    pub limited: IntCounterVec,
    /// `minca_host_http_requests_total{route,code}`: `health`, `peer`, `other`, or what a
    /// response's [`RouteLabel`](crate::RouteLabel) says.
    pub http_requests: IntCounterVec,
    /// `minca_host_http_seconds{route}`: from a request's headers to its answer's.
    pub http_seconds: HistogramVec,
    /// `minca_host_sync_bytes_total{way}`: bytes of binary messages, `in` and `out`.
    pub sync_bytes: IntCounterVec,
    /// `minca_host_socket_messages_total{kind}`: what came after the handshake: `binary`,
    /// `text` (ignored), `ping`, `pong`.
    pub messages: IntCounterVec,
    /// `minca_host_closes_total{code}`: sockets by the close code the host sent (`other`
    /// for one 04 §4 doesn't name), `ended` without one, or `peer` where the peer closed.
    pub closes: IntCounterVec,
    /// `minca_host_message_memory_bytes`: messages in memory, in and out.
    pub message_memory: IntGauge,
    pub(crate) bytes_in: IntCounter,
    pub(crate) bytes_out: IntCounter,
}

impl FrontMetrics {
    /// Makes the metrics and registers them. Fails if one of their names is taken.
    pub fn register(registry: &Registry) -> Result<Self, prometheus::Error> {
        let counter = |name: &str, help: &str, labels: &[&str]| {
            let counter = IntCounterVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(counter.clone()))?;
            Ok::<_, prometheus::Error>(counter)
        };
        let sockets = IntGaugeVec::new(
            Opts::new("minca_host_sockets", "Open sockets by state."),
            &["state"],
        )?;
        registry.register(Box::new(sockets.clone()))?;
        let message_memory = IntGauge::new(
            "minca_host_message_memory_bytes",
            "Messages in memory, in and out.",
        )?;
        registry.register(Box::new(message_memory.clone()))?;
        let http_seconds = HistogramVec::new(
            HistogramOpts::new(
                "minca_host_http_seconds",
                "From a request's headers to its answer's.",
            ),
            &["route"],
        )?;
        registry.register(Box::new(http_seconds.clone()))?;
        let sync_bytes = counter(
            "minca_host_sync_bytes_total",
            "Bytes of binary messages.",
            &["way"],
        )?;
        Ok(Self {
            sockets,
            handshakes: counter(
                "minca_host_handshakes_total",
                "Handshakes by how they ended.",
                &["result"],
            )?,
            limited: counter(
                "minca_host_limited_total",
                "Times a limit took effect.",
                &["limit"],
            )?,
            http_requests: counter(
                "minca_host_http_requests_total",
                "HTTP requests, upgrades among them.",
                &["route", "code"],
            )?,
            http_seconds,
            bytes_in: sync_bytes.with_label_values(&["in"]),
            bytes_out: sync_bytes.with_label_values(&["out"]),
            sync_bytes,
            messages: counter(
                "minca_host_socket_messages_total",
                "What came on sockets after the handshake.",
                &["kind"],
            )?,
            closes: counter(
                "minca_host_closes_total",
                "Sockets by how they were closed.",
                &["code"],
            )?,
            message_memory,
        })
    }

    pub(crate) fn limit_took_effect(&self, limit: &str) {
        self.limited.with_label_values(&[limit]).inc();
    }

    pub(crate) fn http_answer(&self, route: &str, status: http::StatusCode, took: Duration) {
        self.http_requests
            .with_label_values(&[route, status.as_str()])
            .inc();
        self.http_seconds
            .with_label_values(&[route])
            .observe(took.as_secs_f64());
    }

    /// A gauge of sockets in `state`, counted down when the guard goes.
    pub(crate) fn socket_in(&self, state: &str) -> SocketState {
        let gauge = self.sockets.with_label_values(&[state]);
        gauge.inc();
        SocketState(gauge)
    }
}

/// One socket in one state.
pub(crate) struct SocketState(IntGauge);

impl Drop for SocketState {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_registers_once() {
        let registry = Registry::new();
        let metrics = FrontMetrics::register(&registry).unwrap();
        metrics.limit_took_effect("sockets");
        let open = metrics.socket_in("open");
        assert_eq!(metrics.sockets.with_label_values(&["open"]).get(), 1);
        drop(open);
        assert_eq!(metrics.sockets.with_label_values(&["open"]).get(), 0);
        assert!(FrontMetrics::register(&registry).is_err());
        let names: Vec<_> = registry
            .gather()
            .iter()
            .map(|family| family.name().to_owned())
            .collect();
        assert!(names.contains(&"minca_host_limited_total".to_owned()));
    }
}
