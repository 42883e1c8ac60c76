//! Postgres does what every store does, and what only Postgres must do.
#![allow(clippy::unwrap_used, reason = "a test that finds an error fails")]

#[path = "../conformance/mod.rs"]
mod conformance;
mod failures;
mod fencing;
mod opening;
mod plans;
#[path = "../../../../tests/postgres_server/mod.rs"]
mod postgres_server;
mod processes;
mod shards;

use std::sync::Arc;
use std::time::Duration;

use conformance::AN_HOUR;
use engine::rows::Batch;
use minca_record::content_id::ContentId;
use postgres_server::Server;
use sqlx::{Connection, PgConnection};
use store::postgres::{PostgresOptions, migrate};
use store::{PostgresStore, SpaceBatch, Store};

/// Connections of a store in a test.
const CONNECTIONS: u32 = 4;

/// A store on a server of its own, which goes with it.
struct Fresh {
    store: Arc<dyn Store>,
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
    migrate(&options(server), Some(shards)).await.unwrap();
    opened(&options(server)).await
}

async fn opened(options: &PostgresOptions) -> Arc<dyn Store> {
    Arc::new(PostgresStore::open(options).await.unwrap())
}

fn batch_for(space: ContentId, batch: Batch) -> [SpaceBatch; 1] {
    [SpaceBatch {
        space,
        batch: Arc::new(batch),
    }]
}

/// Somebody else at the database.
struct Meddler(PgConnection);

impl Meddler {
    async fn at(server: &Server) -> Meddler {
        Meddler(PgConnection::connect(&server.url()).await.unwrap())
    }

    async fn run(&mut self, sql: &'static str) {
        sqlx::raw_sql(sql).execute(&mut self.0).await.unwrap();
    }

    /// Has every commit that keeps versions stand still once it passed the fence.
    async fn hold_up_commits(&mut self) {
        self.run("BEGIN; LOCK TABLE to_segment").await;
    }

    async fn let_commits_go(&mut self) {
        self.run("ROLLBACK").await;
    }

    /// Waits until a commit stands still.
    async fn wait_for_a_held_commit(&mut self) {
        self.wait_until(
            "SELECT EXISTS (SELECT FROM pg_locks
                            WHERE NOT granted AND relation = 'to_segment'::regclass)",
        )
        .await;
    }

    /// Waits until somebody waits for a shard's lock.
    async fn wait_for_a_waiting_takeover(&mut self) {
        self.wait_until(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'advisory')",
        )
        .await;
    }

    async fn wait_until(&mut self, sql: &'static str) {
        loop {
            let so: bool = sqlx::query_scalar(sql)
                .fetch_one(&mut self.0)
                .await
                .unwrap();
            if so {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

conformance_tests!(crate::fresh);
