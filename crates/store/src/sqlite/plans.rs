//! Tests that SQLite reads what a statement names and no more: every table of ours
//! is searched by its key or an index, never gone through, and nothing is sorted.

use sqlx::{AssertSqlSafe, Row};

use super::commit::{heads, keep};
use super::{SqliteStore, read, runs, segments, spaces};

/// What of a plan would read or hold more than was named.
async fn faults(store: &SqliteStore, sql: &str) -> Vec<String> {
    let explain = format!("EXPLAIN QUERY PLAN {sql}");
    let rows = sqlx::query(AssertSqlSafe(explain))
        .fetch_all(&store.writer)
        .await
        .unwrap();
    assert!(!rows.is_empty());
    let steps = rows.iter().map(|row| row.get::<String, _>("detail"));
    steps.filter(|step| is_fault(step)).collect()
}

fn is_fault(step: &str) -> bool {
    let named_by_the_statement = [
        "VIRTUAL TABLE INDEX", // json_each over a bound value
        "CONSTANT ROW",
        "ROWS IN VALUES CLAUSE",
        "SCAN here",
        "SCAN heads",
        "SCAN named",
        "SCAN head",
        "SCAN filled",
    ];
    let scans = step.contains("SCAN")
        && !named_by_the_statement
            .iter()
            .any(|named| step.contains(named));
    // Of these tables a statement never names all that a space has.
    let whole_space = step.ends_with("(space=?)")
        && ["versions", "v", "r", "runs", "current", "first"]
            .iter()
            .any(|table| step.starts_with(&format!("SEARCH {table} ")));
    scans
        || whole_space
        || step.contains("USE TEMP B-TREE FOR ORDER BY")
        || step.contains("AUTOMATIC")
}

#[tokio::test]
async fn nothing_is_read_that_was_not_named() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).await.unwrap();
    for sql in [
        read::OPEN,
        read::READ,
        read::BODIES,
        read::ITEMS,
        read::VERSIONS,
        runs::RUNS,
        runs::TOUCHED,
        runs::BETWEEN,
        segments::UNSEGMENTED,
        segments::SPACES_TO_SEGMENT,
        spaces::CARRIED,
        keep::COUNT_BODIES,
        keep::DROP,
        &format!(
            "{}VALUES (?1, ?2, ?3), (?4, ?5, ?6){}",
            keep::FILL_START,
            keep::FILL_END
        ),
        &format!(
            "{}VALUES (?1, ?2, ?3, ?4), (?5, ?6, ?7, ?8){}",
            heads::START,
            heads::END
        ),
    ] {
        assert_eq!(faults(&store, sql).await, [""; 0], "{sql}");
    }
}

#[tokio::test]
async fn a_statement_that_goes_through_a_table_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).await.unwrap();
    for sql in [
        "SELECT id FROM versions WHERE envelope = ?1",
        "SELECT id FROM versions WHERE space = ?1 AND collection = ?2 ORDER BY key",
        "SELECT v.id FROM versions v WHERE v.space = ?1 AND v.seq = ?2",
        "SELECT count(*) FROM json_each(?1) AS asked CROSS JOIN versions v ON v.key = asked.value",
    ] {
        assert_ne!(faults(&store, sql).await, [""; 0], "{sql}");
    }
}
