//! Makes the database as the file says, in one transaction: all of it, or nothing.

use std::borrow::Cow;
use std::collections::BTreeSet;

use sqlx::{PgConnection, PgPool};

use super::diff::{Action, Difference};
use super::file::{File, Problem};
use super::state::{self, State};
use super::{Kind, Manifest, write};
use crate::announce::{self, announce};
use crate::changes::{self, By, What};
use crate::domain::numbers::count;

#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Only tell the difference.
    pub dry_run: bool,
    /// Retire what the file lacks.
    pub prune: bool,
    /// One thing is declared, on a screen: whoever reads what is wrong knows of no file.
    pub is_on_screen: bool,
    /// Who is said to have changed it.
    pub by: By<'a>,
}

#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// In the order of lines.
    #[error("the file is wrong in {}", count(.0.len() as u64, "place"))]
    Wrong(Vec<Problem>),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Gives the difference that was made, or with `dry_run` would be. Made a second time, there is none.
pub async fn apply(db: &PgPool, file: &File, options: Options<'_>) -> Result<Difference, ApplyError> {
    apply_with(db, options, |_| Ok(Cow::Borrowed(file))).await
}

/// As [`apply`], for a file that depends on what is there: `file` is asked while nobody else can change it.
pub async fn apply_with<'f>(
    db: &PgPool,
    options: Options<'_>,
    file: impl FnOnce(&Manifest) -> Result<Cow<'f, File>, ApplyError>,
) -> Result<Difference, ApplyError> {
    let mut tx = db.begin().await?;
    if options.dry_run {
        state::freeze(&mut tx).await?;
    } else {
        // Held to the end: of two appliers one waits, and no screen writes between our reading and our writing, so that
        // nobody's change is lost unseen. Readers are not in the way. This one mode is also what an advisory lock would
        // do among appliers.
        sqlx::query("lock table upstream, plan, route, partner in share row exclusive mode")
            .execute(&mut *tx)
            .await?;
    }
    let state = state::read(&mut tx).await?;
    let file = file(&state.manifest)?;
    let mut problems = file.problems.clone();
    problems.extend(dangling(&file, &state.manifest, options.prune));
    problems.extend(taken_paths(&file, &state.manifest, options));
    if !problems.is_empty() {
        problems.sort();
        return Err(ApplyError::Wrong(problems));
    }
    let difference = Difference::between(&state.manifest, &file.manifest, options.prune);
    if !options.dry_run && !difference.is_empty() {
        for change in &difference.changes {
            let (before, after) = change.sides(&state.manifest);
            let what = What::from(change.thing.kind);
            changes::record(&mut tx, options.by, what, &change.thing.name, before, after).await?;
        }
        make(&mut tx, &file.manifest, &difference, state).await?;
        tx.commit().await?;
    }
    Ok(difference)
}

async fn make(
    conn: &mut PgConnection,
    want: &Manifest,
    difference: &Difference,
    state: State,
) -> sqlx::Result<()> {
    let State { manifest: had, mut ids } = state;
    let id = |ids: &write::Ids, kind: Kind, name: &str| ids.get(&(kind, name.to_owned())).copied();
    let found =
        |ids: &write::Ids, kind: Kind, name: &str| id(ids, kind, name).ok_or(sqlx::Error::RowNotFound);
    let touched = |kind| difference.names(Action::Create, kind).chain(difference.names(Action::Change, kind));

    // First of all: what is retired frees its name and path.
    let mut revoked = Vec::new();
    for kind in Kind::ALL {
        for name in difference.names(Action::Retire, kind) {
            revoked.extend(write::retire(conn, kind, found(&ids, kind, name)?).await?);
        }
    }
    let mut moved = Vec::new();
    for name in touched(Kind::Upstream) {
        let (before, upstream) = (had.upstreams.get(name), &want.upstreams[name]);
        let row = write::upstream(conn, id(&ids, Kind::Upstream, name), name, upstream).await?;
        if before.is_some_and(|before| before.urls != upstream.urls || before.headers != upstream.headers) {
            moved.push(row);
        }
        ids.insert((Kind::Upstream, name.to_owned()), row);
    }
    for name in touched(Kind::Plan) {
        let row = write::plan(conn, id(&ids, Kind::Plan, name), name, &want.plans[name]).await?;
        ids.insert((Kind::Plan, name.to_owned()), row);
    }
    let changed: Vec<i64> = difference
        .names(Action::Change, Kind::Route)
        .filter_map(|name| id(&ids, Kind::Route, name))
        .collect();
    write::park_paths(conn, &changed).await?;
    for name in touched(Kind::Route) {
        let route = &want.routes[name];
        let upstream = found(&ids, Kind::Upstream, &route.upstream)?;
        write::route(conn, id(&ids, Kind::Route, name), upstream, name, route).await?;
    }
    write::renew_routes(conn, &moved, &changed).await?;
    for name in touched(Kind::Partner) {
        let partner = &want.partners[name];
        let plan = found(&ids, Kind::Plan, &partner.plan)?;
        write::partner(conn, id(&ids, Kind::Partner, name), plan, name, partner).await?;
    }
    announce(conn, announce::Change::Catalog).await?;
    for hash in revoked {
        announce(conn, announce::Change::Key(hash)).await?;
    }
    Ok(())
}

/// Names that stand for nothing, or for something that would be retired.
fn dangling(file: &File, have: &Manifest, prune: bool) -> Vec<Problem> {
    let exists = |kind, name: &String| match kind {
        Kind::Upstream => have.upstreams.contains_key(name),
        Kind::Plan => have.plans.contains_key(name),
        Kind::Route => have.routes.contains_key(name),
        Kind::Partner => have.partners.contains_key(name),
    };
    let mut problems = Vec::new();
    for reference in &file.references {
        let (by, kind, name) = (&reference.by, reference.kind, &reference.name);
        let message = if file.declared.contains_key(&(kind, name.clone())) {
            continue;
        } else if !exists(kind, name) {
            format!("{by} refers to {kind} {name:?}, which does not exist; declare it as [[{kind}]]")
        } else if prune {
            format!("{by} still uses {kind} {name:?}, which --prune would retire; declare it as [[{kind}]]")
        } else {
            continue;
        };
        problems.push(Problem { line: reference.line, key: String::new(), message });
    }
    problems
}

/// Paths that a route of the database has and keeps, because the file does not name that route.
fn taken_paths(file: &File, have: &Manifest, options: Options<'_>) -> Vec<Problem> {
    if options.prune {
        return Vec::new();
    }
    let kept =
        have.routes.iter().filter(|(name, _)| !file.declared.contains_key(&(Kind::Route, (*name).clone())));
    let taken = kept.filter_map(|(name, route)| {
        let line = *file.paths.get(&route.path)?;
        let advice = match options.is_on_screen {
            true => "",
            false => ", which the file lacks; declare that one too, or --prune",
        };
        let message = format!("{:?} is already the path of route {name:?}{advice}", route.path);
        Some(Problem { line, key: "path".to_owned(), message })
    });
    taken.collect::<BTreeSet<_>>().into_iter().collect()
}
