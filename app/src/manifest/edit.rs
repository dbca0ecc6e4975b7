//! One thing made or changed on a screen, by the rules of the file: what a form says is read as `toll apply` would read it.

use std::borrow::Cow;

use sqlx::PgPool;
use toml::{Table, Value};

use super::apply::{ApplyError, Options, apply_with};
use super::diff::Difference;
use super::file::Problem;
use super::{Kind, Manifest, fields, file};
use crate::changes::By;

#[derive(Debug, thiserror::Error)]
pub enum EditError {
    /// Their lines are of a file that nobody has written.
    #[error("{}", .0.iter().map(Problem::told).collect::<Vec<_>>().join("\n"))]
    Wrong(Vec<Problem>),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

impl EditError {
    /// For the person at a form that has other names for the keys of the file: key and label.
    pub fn by_labels(mut self, labels: &[(&str, &str)]) -> EditError {
        if let EditError::Wrong(problems) = &mut self {
            for problem in problems {
                if let Some((_, label)) = labels.iter().find(|(key, _)| *key == problem.key) {
                    problem.key = (*label).to_owned();
                }
            }
        }
        self
    }
}

/// Declares one thing as `table` gives it, name and all. `table` sees the catalog while nobody else can change it; what it
/// says is wrong changes nothing.
pub async fn edit(
    db: &PgPool,
    by: By<'_>,
    kind: Kind,
    table: impl FnOnce(&Manifest) -> Result<Table, String>,
) -> Result<Difference, EditError> {
    let options = Options { by, is_on_screen: true, ..Options::default() };
    let done = apply_with(db, options, |manifest| match table(manifest) {
        Ok(table) => Ok(Cow::Owned(file::read(&to_text(kind, table)))),
        Err(message) => Err(ApplyError::Wrong(vec![Problem { line: 1, key: String::new(), message }])),
    })
    .await;
    done.map_err(|error| match error {
        ApplyError::Database(error) => EditError::Database(error),
        ApplyError::Wrong(problems) => EditError::Wrong(problems),
    })
}

/// What the catalog says of a thing, as its table in a file would.
pub fn table(manifest: &Manifest, kind: Kind, name: &str) -> Option<Table> {
    let fields = fields::of(manifest, kind).remove(name)?;
    let mut table = Table::new();
    table.insert(kind.name_key().to_owned(), name.into());
    table.extend(fields.into_iter().filter_map(|field| Some((field.key.to_owned(), field.value?))));
    Some(table)
}

fn to_text(kind: Kind, table: Table) -> String {
    let list = Value::Array(vec![Value::Table(table)]);
    Table::from_iter([(kind.word().to_owned(), list)]).to_string()
}
