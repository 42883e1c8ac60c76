//! The settings as front-end and worker take them.

use std::time::Duration;

use axum::http::HeaderName;
use front::{FrontConfig, Limits, Rate, TrustedProxy, Waits};
use worker::WorkerConfig;

use super::limits::LimitsConfig;
use super::settings::{Config, ProxyConfig};

impl Config {
    /// What a front-end is run with, but for routes of one's own.
    pub fn front(&self) -> FrontConfig {
        FrontConfig {
            extra_routes: None,
            trusted_proxy: trusted_proxy(&self.proxy),
            limits: limits(&self.limits),
            waits: waits(&self.limits),
        }
    }

    /// What a worker is run with.
    pub fn worker(&self) -> WorkerConfig {
        WorkerConfig {
            verify_threads: count(self.verify_threads()),
            idle_close: seconds(self.space_idle_seconds),
            lease: seconds(self.lease_seconds),
            // The others are for reading, for leases and for the bucket's task.
            commits_at_once: count((self.store.connections / 4).max(1)),
            flush_after: seconds(self.bucket.flush_after_seconds),
            segment_bytes: count(self.bucket.segment_bytes),
        }
    }
}

fn trusted_proxy(proxy: &ProxyConfig) -> Option<TrustedProxy> {
    if proxy.addresses.is_empty() {
        return None;
    }
    Some(TrustedProxy {
        addresses: proxy.addresses.clone(),
        // Checked when the settings were loaded. One that can't be read is believed nothing.
        header: proxy.header.parse::<HeaderName>().ok()?,
    })
}

fn limits(limits: &LimitsConfig) -> Limits {
    Limits {
        http_connections: count(limits.http_connections),
        sockets: count(limits.sockets),
        unadmitted: count(limits.unadmitted),
        sockets_per_address: count(limits.sockets_per_address),
        unadmitted_per_address: count(limits.unadmitted_per_address),
        new_per_address: Rate {
            per_second: limits.new_per_address_per_second,
            burst: limits.new_per_address_burst,
        },
        read_bytes: Rate {
            per_second: limits.read_bytes_per_second,
            burst: limits.read_bytes_burst,
        },
        read_messages: Rate {
            per_second: limits.read_messages_per_second,
            burst: limits.read_messages_burst,
        },
        message_memory: count(limits.message_memory_bytes),
        message_memory_per_address: count(limits.message_memory_per_address_bytes),
        signature_threads: count(limits.signature_threads),
        signature_queue: count(limits.signature_queue),
        // The rest is the protocol's, not the operator's.
        ..Limits::default()
    }
}

fn waits(limits: &LimitsConfig) -> Waits {
    Waits {
        headers: seconds(limits.header_seconds),
        hello: seconds(limits.hello_seconds),
        ping: seconds(limits.ping_seconds),
        arrival: seconds(limits.arrival_seconds),
        stalled: seconds(limits.stalled_seconds),
        drain: seconds(limits.drain_seconds),
        ..Waits::default()
    }
}

fn seconds(count: u32) -> Duration {
    Duration::from_secs(count.into())
}

fn count(count: impl TryInto<usize>) -> usize {
    count.try_into().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_defaults_are_the_parts_own() {
        let ours = super::super::load::defaults().front();
        let theirs = FrontConfig::default();
        assert_eq!(format!("{:?}", ours.limits), format!("{:?}", theirs.limits));
        assert_eq!(format!("{:?}", ours.waits), format!("{:?}", theirs.waits));
        assert_eq!(ours.trusted_proxy, None);
        let ours = super::super::load::defaults().worker();
        assert_eq!(
            format!("{ours:?}"),
            format!("{:?}", WorkerConfig::default())
        );
    }

    #[test]
    fn every_limit_is_passed_on_by_itself() {
        let defaults = super::super::load::defaults();
        let before = format!("{:?}", defaults.front());
        let table = super::super::load::to_table(&defaults);
        let keys: Vec<_> = super::super::keys::all()
            .into_iter()
            .filter(|key| key.starts_with("limits."))
            .collect();
        assert!(keys.len() > 20);
        for key in keys {
            let mut changed = table.clone();
            super::super::keys::set(&mut changed, &key, toml::Value::Integer(77_777));
            let changed: Config = changed.try_into().unwrap();
            let after = format!("{:?}", changed.front());
            assert_ne!(before, after, "{key}");
            assert_eq!(after.matches("77777").count(), 1, "{key}: {after}");
        }
    }

    #[test]
    fn a_proxy_is_believed_where_its_addresses_are_named() {
        let mut config = super::super::load::defaults();
        config.proxy.addresses = vec!["10.0.0.1".parse().unwrap()];
        let proxy = config.front().trusted_proxy.unwrap();
        assert_eq!(proxy.addresses, config.proxy.addresses);
        assert_eq!(proxy.header, "x-forwarded-for");
    }
}
