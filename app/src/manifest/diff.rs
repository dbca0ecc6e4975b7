//! The difference between what the database declares and what the file says.

use std::fmt;

use serde::Serialize;
use serde_json::{Map, Value as Json};
use toml::Value;

use super::{Kind, Manifest, fields};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Difference {
    pub changes: Vec<Change>,
    /// What the file lacks and the database keeps.
    pub unlisted: Vec<Thing>,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Thing {
    pub kind: Kind,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    pub action: Action,
    #[serde(flatten)]
    pub thing: Thing,
    /// Of a new thing, those that are not as usual; none of one that is retired.
    pub fields: Vec<FieldChange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Create,
    Change,
    Retire,
}

/// None: the key is left out of the file. Secrets are masked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldChange {
    pub field: &'static str,
    pub from: Option<Value>,
    pub to: Option<Value>,
}

impl Change {
    /// What was, and what is, as the audit keeps it: objects of the fields that differ, secrets masked. Of a thing that
    /// is retired, everything about it that is not as usual in `have`.
    pub fn sides(&self, have: &Manifest) -> (Option<Json>, Option<Json>) {
        let object = |pick: fn(&FieldChange) -> &Option<Value>| {
            let fields = self.fields.iter().filter_map(|field| Some((field.field, pick(field).as_ref()?)));
            Some(as_object(fields))
        };
        match self.action {
            Action::Create => (None, object(|field| &field.to)),
            Action::Change => (object(|field| &field.from), object(|field| &field.to)),
            Action::Retire => {
                let fields = fields::of(have, self.thing.kind).remove(self.thing.name.as_str());
                let telling = created(&fields.unwrap_or_default());
                let fields = telling.iter().filter_map(|field| Some((field.field, field.to.as_ref()?)));
                (Some(as_object(fields)), None)
            }
        }
    }
}

fn as_object<'a>(fields: impl Iterator<Item = (&'static str, &'a Value)>) -> Json {
    let json = |value: &Value| serde_json::to_value(value).unwrap_or_else(|_| value.to_string().into());
    Json::Object(fields.map(|(name, value)| (name.to_owned(), json(value))).collect::<Map<_, _>>())
}

impl Difference {
    /// What leads from `have` to `want`. Only with `prune` is what `want` lacks retired.
    pub fn between(have: &Manifest, want: &Manifest, prune: bool) -> Difference {
        let mut difference = Difference::default();
        for kind in Kind::ALL {
            let (had, wanted) = (fields::of(have, kind), fields::of(want, kind));
            for (name, fields) in &wanted {
                let before = had.get(name);
                let (action, fields) = match before {
                    None => (Action::Create, created(fields)),
                    Some(before) => (Action::Change, changed(before, fields)),
                };
                if action == Action::Create || !fields.is_empty() {
                    let thing = Thing { kind, name: (*name).to_owned() };
                    difference.changes.push(Change { action, thing, fields });
                }
            }
            for name in had.keys().filter(|name| !wanted.contains_key(*name)) {
                difference.unlisted.push(Thing { kind, name: (*name).to_owned() });
            }
        }
        if prune {
            // Users before what they use.
            let retired = difference.unlisted.drain(..).rev();
            let retire = |thing| Change { action: Action::Retire, thing, fields: Vec::new() };
            difference.changes.extend(retired.map(retire));
        }
        difference
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Names of the `kind`s that `action` happens to.
    pub fn names(&self, action: Action, kind: Kind) -> impl Iterator<Item = &str> {
        let chosen =
            self.changes.iter().filter(move |change| change.action == action && change.thing.kind == kind);
        chosen.map(|change| change.thing.name.as_str())
    }

    /// "1 created, 2 changed, 0 retired".
    pub fn summary(&self) -> String {
        let count = |action| self.changes.iter().filter(|change| change.action == action).count();
        let counts = (count(Action::Create), count(Action::Change), count(Action::Retire));
        format!("{} created, {} changed, {} retired", counts.0, counts.1, counts.2)
    }
}

fn created(fields: &[fields::Field]) -> Vec<FieldChange> {
    let telling = fields.iter().filter(|field| !field.is_default());
    telling.map(|field| FieldChange { field: field.key, from: None, to: masked(field) }).collect()
}

fn changed(before: &[fields::Field], after: &[fields::Field]) -> Vec<FieldChange> {
    let pairs = before.iter().zip(after).filter(|(before, after)| before.value != after.value);
    pairs
        .map(|(before, after)| FieldChange { field: after.key, from: masked(before), to: masked(after) })
        .collect()
}

fn masked(field: &fields::Field) -> Option<Value> {
    field.value.as_ref().map(|value| fields::shown(field.key, value))
}

/// A line a thing, a line below it a field.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            |value: &Option<Value>| value.as_ref().map_or_else(|| "unset".to_owned(), Value::to_string);
        for Change { action, thing, fields } in &self.changes {
            let sign = match action {
                Action::Create => '+',
                Action::Change => '~',
                Action::Retire => '-',
            };
            writeln!(f, "{sign} {} {}", thing.kind, thing.name)?;
            for FieldChange { field, from, to } in fields {
                match action {
                    Action::Create => writeln!(f, "    {field} = {}", shown(to))?,
                    _ => writeln!(f, "    {field} = {} → {}", shown(from), shown(to))?,
                }
            }
        }
        Ok(())
    }
}
