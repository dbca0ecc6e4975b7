//! What a partner may call, and with which keys: its plan, the routes of that, its keys.

use serde::{Deserialize, Serialize};
use sqlx::{FromRow, PgPool, Row};

/// Everything that an example needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    pub plan: String,
    pub capacity: u32,
    pub refill_per_second: f64,
    /// By path.
    pub routes: Vec<OpenRoute>,
    /// Those that are honoured, newest first.
    pub keys: Vec<OpenKey>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, FromRow)]
pub struct OpenRoute {
    pub name: String,
    /// Below `/api`.
    pub path: String,
    /// Absent: all.
    pub methods: Option<Vec<String>>,
    /// Needs no key, costs no quota.
    pub is_public: bool,
    pub is_off: bool,
    /// An upstream has answered there within a day, and well, and its breaker is closed.
    pub answers: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, FromRow)]
pub struct OpenKey {
    pub name: String,
    pub start: String,
    /// Absent: all of the plan.
    pub routes: Option<Vec<String>>,
}

impl Access {
    /// The path of an example, below `/api`: of the routes that a key opens, the one that suits best. It is on, needs a key,
    /// can be read, and answers.
    pub fn example_path(&self, opens: Option<&[String]>) -> &str {
        let is_open =
            |route: &&OpenRoute| route.is_public || opens.is_none_or(|names| names.contains(&route.name));
        let is_read = |route: &OpenRoute| {
            route.methods.as_ref().is_none_or(|methods| methods.iter().any(|method| method == "GET"))
        };
        let unfit = |route: &&OpenRoute| (route.is_off, route.is_public, !is_read(route), !route.answers);
        self.routes.iter().filter(is_open).min_by_key(unfit).map_or("/", |route| &route.path)
    }

    /// The newest key as screens show it, "toll_9fK2x…", or words in its place.
    pub fn key_start(&self) -> String {
        self.keys.first().map_or("YOUR_KEY".into(), |key| format!("{}…", key.start))
    }
}

/// `None`: there is no such partner.
pub async fn access(db: &PgPool, partner: i64) -> sqlx::Result<Option<Access>> {
    let plan = sqlx::query(
        "select plan.name, capacity, refill_per_second
         from partner join plan on plan.id = plan_id
         where partner.id = $1 and partner.retired_at is null",
    )
    .bind(partner)
    .fetch_optional(db)
    .await?;
    let Some(plan) = plan else { return Ok(None) };
    let routes = sqlx::query_as(
        "select route.name, path, methods, access = 'public' as is_public, is_off,
             route.id in (
                 select route_id from total_hour
                 where at > now() - interval '1 day' and reached and status_class = 2
             ) and not exists (
                 select from breaker where breaker.upstream_id = route.upstream_id and state <> 'closed'
             ) as answers
         from partner
         join plan on plan.id = plan_id
         join route on route.retired_at is null
             and (access = 'public' or plan.routes is null or route.name = any(plan.routes))
         where partner.id = $1
         order by path",
    )
    .bind(partner)
    .fetch_all(db)
    .await?;
    let keys = sqlx::query_as(
        "select name, start, routes from api_key
         where partner_id = $1 and (revoked_at is null or revoked_at > now())
             and (expires_at is null or expires_at > now())
         order by id desc
         limit 100",
    )
    .bind(partner)
    .fetch_all(db)
    .await?;
    Ok(Some(Access {
        plan: plan.try_get("name")?,
        capacity: plan.try_get::<i32, _>("capacity")? as u32,
        refill_per_second: plan.try_get("refill_per_second")?,
        routes,
        keys,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(name: &str) -> OpenRoute {
        OpenRoute {
            name: name.into(),
            path: format!("/{name}"),
            methods: None,
            is_public: false,
            is_off: false,
            answers: true,
        }
    }

    fn of(routes: Vec<OpenRoute>) -> Access {
        Access { plan: "free".into(), capacity: 1, refill_per_second: 1.0, routes, keys: Vec::new() }
    }

    #[test]
    fn an_example_is_a_route_that_works_if_there_is_one() {
        let access = of(vec![
            OpenRoute { answers: false, ..route("archive") },
            OpenRoute { methods: Some(vec!["POST".into()]), ..route("billing") },
            OpenRoute { is_public: true, ..route("open") },
            OpenRoute { is_off: true, ..route("reports") },
            route("search"),
        ]);
        assert_eq!(access.example_path(None), "/search");
        assert_eq!(access.example_path(Some(&["archive".into(), "billing".into()])), "/archive");
        assert_eq!(access.example_path(Some(&["billing".into()])), "/billing");
        assert_eq!(access.example_path(Some(&[])), "/open");
        assert_eq!(of(Vec::new()).example_path(None), "/");
    }
}
