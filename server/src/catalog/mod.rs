//! Routes, upstreams and plans in memory: a snapshot that is swapped whole when the database's catalog changes.

pub mod live;
mod load;
pub mod tls;
pub mod upstream;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use http::Method;

pub use live::Live;
pub use upstream::{Target, Upstream};

/// What "all methods" is to a client that asks.
pub const ALL_METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// One state of the catalog. Requests that have begun go on with the state they saw.
#[derive(Debug, Default)]
pub struct Catalog {
    pub version: i64,
    /// By path, without the leading `/api`.
    routes: HashMap<String, Arc<Route>>,
    /// Segments of the deepest path: nothing longer can be a prefix.
    deepest: usize,
    pub plans: HashMap<i64, Arc<Plan>>,
    pub upstreams: HashMap<i64, Arc<Upstream>>,
}

#[derive(Debug)]
pub struct Route {
    pub id: i64,
    pub name: String,
    pub path: String,
    pub upstream: Arc<Upstream>,
    pub strip: bool,
    /// `None`: all.
    pub methods: Option<Vec<Method>>,
    /// Without a key there is neither caller nor quota.
    pub public: bool,
    /// Bytes; `None` is unlimited, and a body of unknown length streams.
    pub body_limit: Option<u64>,
    pub identity: bool,
    pub cache: bool,
    pub cache_ttl: Duration,
    /// Origins whose pages may call.
    pub cors: Vec<String>,
    pub off: bool,
    /// Part of every cache key.
    pub generation: i64,
}

#[derive(Debug)]
pub struct Plan {
    pub id: i64,
    pub name: String,
    pub capacity: i32,
    pub refill_per_second: f64,
    /// Names of routes; `None`: all.
    pub routes: Option<HashSet<String>>,
}

impl Catalog {
    pub fn new(
        version: i64,
        routes: Vec<Route>,
        plans: Vec<Plan>,
        upstreams: HashMap<i64, Arc<Upstream>>,
    ) -> Catalog {
        let deepest = routes.iter().map(|route| depth(&route.path)).max().unwrap_or(0);
        Catalog {
            version,
            routes: routes.into_iter().map(|route| (route.path.clone(), Arc::new(route))).collect(),
            deepest,
            plans: plans.into_iter().map(|plan| (plan.id, Arc::new(plan))).collect(),
            upstreams,
        }
    }

    /// The route with the longest path that `path` lies at or below, at segment borders, byte for byte; and the rest.
    pub fn route<'p>(&self, path: &'p str) -> Option<(&Arc<Route>, &'p str)> {
        if let Some(route) = self.routes.get(path) {
            return Some((route, ""));
        }
        let mut borders: Vec<usize> =
            path.match_indices('/').map(|(at, _)| at).skip(1).take(self.deepest).collect();
        while let Some(border) = borders.pop() {
            if let Some(route) = self.routes.get(&path[..border]) {
                return Some((route, &path[border..]));
            }
        }
        // A route at "/" answers everything that no other does.
        self.routes.get("/").map(|route| (route, path))
    }

    pub fn routes(&self) -> impl Iterator<Item = &Arc<Route>> {
        self.routes.values()
    }
}

impl Route {
    /// `TRACE` must be named: an upstream that answers it shows what Toll added to the request (RFC 9110 §9.3.8).
    pub fn allows(&self, method: &Method) -> bool {
        match &self.methods {
            Some(methods) => methods.contains(method),
            None => method != Method::TRACE,
        }
    }

    /// As an `Allow` header lists them.
    pub fn methods_text(&self) -> String {
        match &self.methods {
            Some(methods) => methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", "),
            None => ALL_METHODS.to_owned(),
        }
    }
}

fn depth(path: &str) -> usize {
    path.matches('/').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog(paths: &[&str]) -> Catalog {
        let upstream = Arc::new(Upstream::for_tests());
        let route = |path: &&str| Route {
            id: 1,
            name: path.to_string(),
            path: path.to_string(),
            upstream: upstream.clone(),
            strip: true,
            methods: None,
            public: false,
            body_limit: None,
            identity: false,
            cache: false,
            cache_ttl: Duration::ZERO,
            cors: vec![],
            off: false,
            generation: 1,
        };
        Catalog::new(1, paths.iter().map(route).collect(), vec![], HashMap::new())
    }

    fn found<'p>(catalog: &Catalog, path: &'p str) -> Option<(String, &'p str)> {
        catalog.route(path).map(|(route, rest)| (route.name.clone(), rest))
    }

    #[test]
    fn the_longest_path_wins_at_segment_borders() {
        let catalog = catalog(&["/orders", "/orders/old", "/a/b/c"]);
        assert_eq!(found(&catalog, "/orders"), Some(("/orders".into(), "")));
        assert_eq!(found(&catalog, "/orders/"), Some(("/orders".into(), "/")));
        assert_eq!(found(&catalog, "/orders/7/x"), Some(("/orders".into(), "/7/x")));
        assert_eq!(found(&catalog, "/orders/old/7"), Some(("/orders/old".into(), "/7")));
        assert_eq!(found(&catalog, "/orders/older"), Some(("/orders".into(), "/older")));
        assert_eq!(found(&catalog, "/a/b/c/d/e/f/g"), Some(("/a/b/c".into(), "/d/e/f/g")));
        assert_eq!(found(&catalog, "/ordersx"), None);
        assert_eq!(found(&catalog, "/a/b"), None);
        assert_eq!(found(&catalog, ""), None);
    }

    #[test]
    fn the_rest_of_a_path_is_untouched() {
        let catalog = catalog(&["/orders"]);
        assert_eq!(found(&catalog, "/orders//a%2Fb/").map(|f| f.1), Some("//a%2Fb/"));
    }

    #[test]
    fn a_route_at_the_root_answers_what_no_other_does() {
        let catalog = catalog(&["/", "/orders"]);
        assert_eq!(found(&catalog, "/x/y"), Some(("/".into(), "/x/y")));
        assert_eq!(found(&catalog, "/orders/1"), Some(("/orders".into(), "/1")));
    }
}
