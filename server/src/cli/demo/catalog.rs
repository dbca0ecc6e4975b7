//! The demo's upstreams, plans, routes and partners: put into a catalog where they are in nobody's way.

use std::net::SocketAddr;

use anyhow::bail;
use sqlx::PgPool;

use super::BY;
use crate::manifest::apply::{ApplyError, Options, apply};
use crate::manifest::file::Problem;
use crate::manifest::state::{self, State};
use crate::manifest::{Manifest, file};

const FILE: &str = include_str!("catalog.toml");

/// Makes the catalog as the demo needs it; made again, only the ports change.
pub async fn declare(db: &PgPool, upstream: SocketAddr, closed: SocketAddr) -> anyhow::Result<()> {
    let file = file::read(&text(upstream.port(), closed.port()));
    let mut tx = db.begin().await?;
    let State { manifest: have, .. } = state::read(&mut tx).await?;
    tx.rollback().await?;
    if let Some(thing) = in_the_way(&have, &file.manifest) {
        bail!(
            "the catalog has its own {thing}, which the demo would change: give the demo a Toll of its own, \
             as by TOLL_DATA_DIR=toll-demo TOLL_LISTEN=127.0.0.1:8081 make demo"
        );
    }
    let options = Options { by: BY, ..Options::default() };
    match apply(db, &file, options).await {
        Ok(_) => Ok(()),
        Err(ApplyError::Database(error)) => Err(error.into()),
        Err(ApplyError::Wrong(problems)) => {
            let problems: Vec<_> = problems.iter().map(Problem::told).collect();
            bail!(
                "the demo's catalog does not fit in beside yours ({}): give the demo a data folder of its own",
                problems.join("; ")
            );
        }
    }
}

fn text(port: u16, closed: u16) -> String {
    FILE.replace(":PORT/", &format!(":{port}/")).replace(":CLOSED/", &format!(":{closed}/"))
}

/// Something with a name that the demo uses too, unless an earlier demo has made it: that shows in its upstreams' urls.
fn in_the_way(have: &Manifest, want: &Manifest) -> Option<String> {
    let of_a_demo = |name: &String| {
        let path = format!("/demo/{name}");
        have.upstreams.get(name).map(|upstream| {
            upstream.urls.iter().all(|url| url.starts_with("http://127.0.0.1:") && url.ends_with(&path))
        })
    };
    if let Some(name) = want.upstreams.keys().find(|name| of_a_demo(name) == Some(false)) {
        return Some(format!("upstream {name:?}"));
    }
    // Its things are made in one transaction: where all of its upstreams are, the rest is the demo's too.
    if want.upstreams.keys().all(|name| of_a_demo(name) == Some(true)) {
        return None;
    }
    let plan = want.plans.keys().find(|name| have.plans.contains_key(*name)).map(|name| ("plan", name));
    let route =
        || want.routes.keys().find(|name| have.routes.contains_key(*name)).map(|name| ("route", name));
    let partner =
        || want.partners.keys().find(|slug| have.partners.contains_key(*slug)).map(|slug| ("partner", slug));
    plan.or_else(route).or_else(partner).map(|(kind, name)| format!("{kind} {name:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_demo_is_in_the_way_of_what_others_made_and_not_of_an_earlier_demo() {
        let (want, earlier) = (file::read(&text(1, 2)), file::read(&text(3, 4)));
        assert!(want.problems.is_empty(), "{:?}", want.problems);
        assert_eq!(in_the_way(&Manifest::default(), &want.manifest), None);
        assert_eq!(in_the_way(&earlier.manifest, &want.manifest), None);

        let mut theirs = Manifest::default();
        theirs.partners.insert("acme".into(), earlier.manifest.partners["acme"].clone());
        assert_eq!(in_the_way(&theirs, &want.manifest).as_deref(), Some("partner \"acme\""));

        let mut theirs = earlier.manifest;
        theirs.upstreams.get_mut("orders").expect("the demo's").urls = vec!["http://10.0.0.1:80".into()];
        assert_eq!(in_the_way(&theirs, &want.manifest).as_deref(), Some("upstream \"orders\""));
    }
}
