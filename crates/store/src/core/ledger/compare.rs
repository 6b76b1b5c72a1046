//! Compares the rows of two databases.

use rusqlite::Connection;
use rusqlite::types::Value;

use crate::core::error::StoreError;

/// The first table in which two databases differ, and one row of it.
pub(crate) fn first_difference(
    one: &Connection,
    other: &Connection,
) -> Result<Option<String>, StoreError> {
    let tables = "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY name";
    if let Some(row) = differing_row(one, other, tables)? {
        return Ok(Some(format!("the schemas differ: {row}")));
    }
    let mut names = one.prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'log_position' ORDER BY 1",
    )?;
    let names = names.query_map([], |row| row.get::<_, String>(0))?;
    for name in names {
        let name = name?;
        let columns = one.prepare(&format!("SELECT * FROM \"{name}\""))?.column_count();
        let order = (1..=columns).map(|column| column.to_string()).collect::<Vec<_>>().join(", ");
        let rows = format!("SELECT * FROM \"{name}\" ORDER BY {order}");
        if let Some(row) = differing_row(one, other, &rows)? {
            return Ok(Some(format!("table `{name}` differs: {row}")));
        }
    }
    Ok(None)
}

/// The first row that a query gives from only one of two databases.
fn differing_row(
    one: &Connection,
    other: &Connection,
    sql: &str,
) -> Result<Option<String>, StoreError> {
    let (mut left, mut right) = (one.prepare(sql)?, other.prepare(sql)?);
    let columns = left.column_count();
    let (mut left, mut right) = (left.query([])?, right.query([])?);
    loop {
        let read = |row: Option<&rusqlite::Row<'_>>| {
            row.map(|row| (0..columns).map(|at| row.get::<_, Value>(at)).collect()).transpose()
        };
        let left: Option<Vec<Value>> = read(left.next()?)?;
        let right: Option<Vec<Value>> = read(right.next()?)?;
        if left != right {
            return Ok(Some(format!("{left:?} is {right:?} in the replica")));
        }
        if left.is_none() {
            return Ok(None);
        }
    }
}
