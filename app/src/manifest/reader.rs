//! Takes a table of the file apart key by key, and goes on after each fault, so that all are told at once.
//!
//! `serde` stops at the first fault; so this walks the spanned tables of the `toml` crate instead.

use std::fmt::Write;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

pub type Value<'t> = Spanned<DeValue<'t>>;

/// What is wrong.
#[derive(Debug, Default)]
pub struct Faults {
    list: Vec<Fault>,
}

#[derive(Debug)]
pub struct Fault {
    /// The byte of the file.
    pub at: usize,
    /// As [`super::file::Problem`] has it.
    pub key: String,
    pub message: String,
}

/// One table of the file, such as one `[[route]]`.
pub struct Fields<'a, 't> {
    table: &'a DeTable<'t>,
    /// For people: `route "orders"`, or `a route` as long as it has no name.
    pub what: String,
    head: Range<usize>,
    pub faults: &'a mut Faults,
}

impl Faults {
    pub fn add(&mut self, at: usize, message: impl Into<String>) {
        self.add_to("", at, message);
    }

    /// Of the value of `key`.
    pub fn add_to(&mut self, key: &str, at: usize, message: impl Into<String>) {
        self.list.push(Fault { at, key: key.to_owned(), message: message.into() });
    }

    pub fn into_list(self) -> Vec<Fault> {
        self.list
    }

    /// `read` as far as it goes; whatever it finds wrong is told as being about `key`.
    fn about<T>(&mut self, key: &str, read: impl FnOnce(&mut Faults) -> Option<T>) -> Option<T> {
        let before = self.list.len();
        let value = read(self);
        for fault in &mut self.list[before..] {
            fault.key = match fault.key.as_str() {
                "" => key.to_owned(),
                inner => format!("{key}: {inner}"),
            };
        }
        value
    }
}

impl<'a, 't> Fields<'a, 't> {
    /// Tells of keys other than `known`. None: `value` is no table.
    pub fn open(
        what: &str,
        value: &'a Value<'t>,
        known: &[&str],
        faults: &'a mut Faults,
    ) -> Option<Fields<'a, 't>> {
        let Some(table) = value.get_ref().as_table() else {
            faults
                .add(value.span().start, format!("{what} must be a table; write such as {{ key = value }}"));
            return None;
        };
        let fields = Fields { table, what: what.to_owned(), head: value.span(), faults };
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let mut message = format!("unknown key {:?}; {what} takes ", key.get_ref());
            for (at, known) in known.iter().enumerate() {
                let _ = write!(message, "{}{known}", if at == 0 { "" } else { ", " });
            }
            fields.faults.add(key.span().start, message);
        }
        Some(fields)
    }

    /// Where the value of `key` begins, else where the table begins.
    pub fn at(&self, key: &str) -> usize {
        self.table.get(key).map_or(self.head.start, |value| value.span().start)
    }

    /// None: missing or bad, and told.
    pub fn required<T>(
        &mut self,
        key: &str,
        example: &str,
        read: impl FnOnce(&Value<'t>, &mut Faults) -> Option<T>,
    ) -> Option<T> {
        if !self.table.contains_key(key) {
            self.faults.add(self.head.start, format!("{} has no {key}; add {key} = {example}", self.what));
        }
        self.given(key, read)?
    }

    /// None: bad, and told.
    pub fn or<T>(
        &mut self,
        key: &str,
        default: T,
        read: impl FnOnce(&Value<'t>, &mut Faults) -> Option<T>,
    ) -> Option<T> {
        self.given(key, read).unwrap_or(Some(default))
    }

    /// Outer None: not given. Inner None: bad, and told.
    pub fn given<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&Value<'t>, &mut Faults) -> Option<T>,
    ) -> Option<Option<T>> {
        let value = self.table.get(key)?;
        Some(self.faults.about(key, |faults| read(value, faults)))
    }

    /// As [`Fields::given`], for what need not be there: `Some(None)` is absent, `None` is bad.
    pub fn perhaps<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&Value<'t>, &mut Faults) -> Option<T>,
    ) -> Option<Option<T>> {
        self.given(key, read).map_or(Some(None), |value| value.map(Some))
    }
}
