//! Reads the file of `toll apply`: a manifest, or every line that is wrong with it.

use std::collections::BTreeMap;
use std::fmt;

use toml::de::DeTable;

use super::reader::{Fault, Faults};
use super::{Kind, Manifest};

/// A file that was read. It may still be wrong: the names that it refers to are judged against the database too.
#[derive(Clone, Debug, Default)]
pub struct File {
    /// What of the file is right; all of it, if there are no problems.
    pub manifest: Manifest,
    pub problems: Vec<Problem>,
    pub references: Vec<Reference>,
    /// The line on which each thing is declared, even if something else is wrong with it.
    pub declared: BTreeMap<(Kind, String), usize>,
    /// The line of each route's path.
    pub paths: BTreeMap<String, usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Counted from one.
    pub line: usize,
    /// Which value it is about, such as `cache_ttl` or `breaker: window`; empty: about the thing as a whole.
    pub key: String,
    pub message: String,
}

impl Problem {
    /// Without the line.
    pub fn told(&self) -> String {
        match self.key.as_str() {
            "" => self.message.clone(),
            key => format!("{key}: {}", self.message),
        }
    }
}

/// That `by` names something that must exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    pub line: usize,
    /// For people: `route "orders"`.
    pub by: String,
    pub kind: Kind,
    pub name: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.told())
    }
}

pub fn read(text: &str) -> File {
    let (table, errors) = DeTable::parse_recoverable(text);
    let lines = Lines::of(text);
    if !errors.is_empty() {
        // What follows on a bad line is often its echo; the rest of the file is not judged on a guess.
        let mut problems: Vec<Problem> = errors
            .iter()
            .map(|error| Problem {
                line: lines.line(error.span().map_or(0, |span| span.start)),
                key: String::new(),
                message: format!("is not TOML: {}", error.message().replace('\n', " ")),
            })
            .collect();
        problems.sort_by_key(|problem| problem.line);
        problems.dedup_by_key(|problem| problem.line);
        return File { problems, ..File::default() };
    }
    let mut reader = Reader { lines, file: File::default(), faults: Faults::default() };
    reader.whole(table.get_ref());
    let Reader { lines, mut file, faults } = reader;
    file.problems = faults
        .into_list()
        .into_iter()
        .map(|Fault { at, key, message }| Problem { line: lines.line(at), key, message })
        .collect();
    file.problems.sort();
    file
}

/// What is known half-way through a file.
pub(super) struct Reader {
    pub lines: Lines,
    pub file: File,
    pub faults: Faults,
}

impl Reader {
    fn whole(&mut self, table: &DeTable<'_>) {
        for (key, value) in table {
            let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.word() == key.get_ref()) else {
                let message = format!(
                    "unknown key {:?}; the file takes [[upstream]], [[plan]], [[route]], [[partner]]",
                    key.get_ref()
                );
                self.faults.add(key.span().start, message);
                continue;
            };
            let Some(entries) = value.get_ref().as_array() else {
                self.faults
                    .add(key.span().start, format!("{kind} is no list; write [[{kind}]] in double brackets"));
                continue;
            };
            for entry in entries.iter() {
                match kind {
                    Kind::Upstream => self.upstream(entry),
                    Kind::Plan => self.plan(entry),
                    Kind::Route => self.route(entry),
                    Kind::Partner => self.partner(entry),
                };
            }
        }
    }
}

/// Where each line begins.
pub(super) struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Lines {
        Lines(std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect())
    }

    /// Of the byte `at`, counted from one.
    pub fn line(&self, at: usize) -> usize {
        self.0.partition_point(|start| *start <= at)
    }
}
