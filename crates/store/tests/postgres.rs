//! Postgres does what every store does, and what only Postgres must do.
#![allow(clippy::unwrap_used, reason = "a test that finds an error fails")]

mod conformance;
#[path = "../../../tests/postgres_server/mod.rs"]
mod postgres_server;

use std::sync::Arc;

use conformance::AN_HOUR;
use postgres_server::Server;
use store::postgres::{PostgresOptions, migrate};
use store::{PostgresStore, Store};

/// Connections of a store in a test.
const CONNECTIONS: u32 = 4;

/// A store on a server of its own, which goes with it.
struct Fresh {
    store: Arc<dyn Store>,
    #[allow(dead_code, reason = "held for as long as the store")]
    server: Server,
}

async fn fresh() -> Fresh {
    let server = Server::start();
    let store = migrated(&server, 1).await;
    Fresh { store, server }
}

fn options(server: &Server) -> PostgresOptions {
    PostgresOptions::new(&server.url(), CONNECTIONS, AN_HOUR).unwrap()
}

/// A store on a server whose database is divided into `shards`.
async fn migrated(server: &Server, shards: u32) -> Arc<dyn Store> {
    let options = options(server);
    migrate(&options, Some(shards)).await.unwrap();
    Arc::new(PostgresStore::open(&options).await.unwrap())
}

conformance_tests!(crate::fresh);
