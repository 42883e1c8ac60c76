//! Statements that write many rows at once.
//!
//! A statement per row would cost a trip to the connection's thread per row. A
//! statement of any number of rows would be prepared anew each time. So rows go
//! in statements of 64, and the rest in statements of 32, 16, 8, 4, 2 and 1,
//! which are each prepared once and kept.

use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

const MOST_ROWS: usize = 64;

/// Binds one row's columns, in order.
pub(super) type Columns<'builder> = sqlx::query_builder::Separated<'builder, Sqlite, &'static str>;

/// Writes `rows` by `<start> (…), (…) <end>` statements. Says how many rows were
/// written by SQLite's count.
pub(super) async fn write_rows<T>(
    connection: &mut SqliteConnection,
    start: &'static str,
    rows: &[T],
    bind: impl Fn(&mut Columns<'_>, &T),
    end: &'static str,
) -> Result<u64, sqlx::Error> {
    let mut written = 0;
    let mut rest = rows;
    while !rest.is_empty() {
        let (some, more) = rest.split_at(statement_rows(rest.len()));
        rest = more;
        let mut statement: QueryBuilder<Sqlite> = QueryBuilder::new(start);
        statement.push_values(some, |mut columns, row| bind(&mut columns, row));
        statement.push(end);
        written += statement
            .build()
            .execute(&mut *connection)
            .await?
            .rows_affected();
    }
    Ok(written)
}

/// The largest power of two up to `rows`, and up to [`MOST_ROWS`].
fn statement_rows(rows: usize) -> usize {
    let power = 1 << rows.max(1).ilog2();
    MOST_ROWS.min(power)
}

#[cfg(test)]
mod tests {
    use super::statement_rows;

    #[test]
    fn rows_go_in_few_sizes_of_statement() {
        let mut rest = 227;
        let mut sizes = Vec::new();
        while rest > 0 {
            sizes.push(statement_rows(rest));
            rest -= statement_rows(rest);
        }
        assert_eq!(sizes, [64, 64, 64, 32, 2, 1]);
    }
}
