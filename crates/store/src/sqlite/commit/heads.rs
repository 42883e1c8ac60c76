//! The heads of records as a batch writes them.

use engine::rows::RecordRow;
use sqlx::SqliteConnection;

use super::super::rows::write_rows;
use super::{Failure, does_not_fit};
use crate::batch::HEAD_NOT_HELD;

/// Before and after the rows of a statement that writes heads.
pub(in crate::sqlite) const START: &str = "WITH head (space, key, current, first) AS (";

/// See [`START`]. A head that names what is not held is not written, and so not counted.
pub(in crate::sqlite) const END: &str = ") INSERT INTO records (space, key, current, first)
    SELECT head.space, head.key, current.no, first.no
    FROM head
    CROSS JOIN versions current
        ON current.space = head.space AND current.id = head.current
        AND current.key = head.key
    LEFT JOIN versions first
        ON first.space = head.space AND first.id = head.first AND first.key = head.key
    WHERE head.first IS NULL OR first.no IS NOT NULL
    ON CONFLICT (space, key)
    DO UPDATE SET current = excluded.current, first = excluded.first";

/// Writes the new heads. Each must name versions of its record that are held, this
/// batch's among them.
pub(super) async fn write(
    connection: &mut SqliteConnection,
    space: i64,
    records: &[RecordRow],
) -> Result<(), Failure> {
    let written = write_rows(
        connection,
        START,
        records,
        |columns, record| {
            columns
                .push_bind(space)
                .push_bind(record.key.clone())
                .push_bind(record.current.digest().to_vec())
                .push_bind(record.first.map(|id| id.digest().to_vec()));
        },
        END,
    )
    .await?;
    if written != records.len() as u64 {
        return Err(does_not_fit(HEAD_NOT_HELD));
    }
    Ok(())
}
