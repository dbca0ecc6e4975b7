//! CSV as RFC 4180 has it, with a head that says what the numbers are of.

use std::fmt;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::domain::window::Window;

/// One file: a head, then tables with an empty line between them.
pub struct Sheet {
    pub window: Window,
    /// What else the numbers are restricted to: name and value.
    pub filters: Vec<(&'static str, String)>,
    pub tables: Vec<Table>,
}

pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Cell>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// As somebody may have typed it: programs that open the file must not run it.
    Text(String),
    Number(f64),
    /// A count, which may be negative where it says what is missing.
    Count(i64),
    Empty,
}

impl Table {
    pub fn new(columns: &[&str]) -> Table {
        Table { columns: columns.iter().map(|column| (*column).to_owned()).collect(), rows: Vec::new() }
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(count as i64)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<OffsetDateTime> for Cell {
    fn from(at: OffsetDateTime) -> Cell {
        at.format(&Rfc3339).map_or(Cell::Empty, Cell::Text)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Empty, Into::into)
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Text(text) => write!(f, "{}", quoted(&harmless(text))),
            Cell::Number(number) => write!(f, "{number}"),
            Cell::Count(count) => write!(f, "{count}"),
            Cell::Empty => Ok(()),
        }
    }
}

impl fmt::Display for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut head = vec![
            vec![Cell::from("from"), self.window.from.into()],
            vec![Cell::from("to"), self.window.to.into()],
        ];
        head.extend(self.filters.iter().map(|(name, value)| vec![Cell::from(*name), value.as_str().into()]));
        lines(f, &head)?;
        for table in &self.tables {
            write!(f, "\r\n")?;
            lines(f, &[table.columns.iter().map(|column| column.as_str().into()).collect()])?;
            lines(f, &table.rows)?;
        }
        Ok(())
    }
}

fn lines(f: &mut fmt::Formatter<'_>, rows: &[Vec<Cell>]) -> fmt::Result {
    for row in rows {
        let cells: Vec<_> = row.iter().map(Cell::to_string).collect();
        write!(f, "{}\r\n", cells.join(","))?;
    }
    Ok(())
}

/// Spreadsheets take a cell that begins like this for a formula; an apostrophe says that it is text.
fn harmless(text: &str) -> String {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        true => format!("'{text}"),
        false => text.to_owned(),
    }
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\r', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn text_that_begins_like_a_formula_is_made_harmless_and_numbers_stay_numbers() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+a", "'+a"),
            ("-a", "'-a"),
            ("\t=a", "'\t=a"),
            ("=a,\"b\"", "\"'=a,\"\"b\"\"\""),
            ("a=1", "a=1"),
            ("two\nlines", "\"two\nlines\""),
        ] {
            assert_eq!(Cell::from(text).to_string(), cell);
        }
        assert_eq!(Cell::Count(-3).to_string(), "-3");
        assert_eq!(Cell::Number(0.5).to_string(), "0.5");
    }

    #[test]
    fn the_head_says_what_the_numbers_are_of() {
        let window = Window { from: datetime!(2026-01-01 10:00 UTC), to: datetime!(2026-01-01 11:00 UTC) };
        let mut table = Table::new(&["a", "b"]);
        table.rows.push(vec![7u64.into(), Cell::Empty]);
        let sheet = Sheet { window, filters: vec![("route", "orders".into())], tables: vec![table] };
        assert_eq!(
            sheet.to_string(),
            "from,2026-01-01T10:00:00Z\r\nto,2026-01-01T11:00:00Z\r\nroute,orders\r\n\r\na,b\r\n7,\r\n"
        );
    }
}
