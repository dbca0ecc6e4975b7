//! Whose each page and each server function is. The lists are the router's and the registry's own, so that whatever is added
//! without a rule here fails.

use std::collections::BTreeMap;

use app::App;
use app::posted::PAGES;
use leptos::server_fn::axum::server_fn_paths;

/// Whose a page or a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The door: whoever comes.
    Anybody,
    Ops,
    Partner,
    /// Of whoever has signed in, each their own.
    Either,
}

use Whose::{Anybody, Either, Ops, Partner};

const PAGE_RULES: &[(&str, Whose)] = &[
    ("/", Anybody),
    ("/invite/:token", Anybody),
    ("/reset/:token", Anybody),
    ("/sign-up", Anybody),
    ("/account", Either),
    ("/ops", Ops),
    ("/ops/partners", Ops),
    ("/ops/partners/new", Ops),
    ("/ops/partners/:slug", Ops),
    ("/ops/routes", Ops),
    ("/ops/routes/new", Ops),
    ("/ops/routes/:name", Ops),
    ("/ops/upstreams", Ops),
    ("/ops/cache", Ops),
    ("/ops/latency", Ops),
    ("/ops/requests", Ops),
    ("/ops/audit", Ops),
    ("/ops/people", Ops),
    ("/portal", Partner),
    ("/portal/keys", Partner),
    ("/portal/keys/new", Partner),
    ("/portal/keys/:id/:act", Partner),
    ("/portal/docs", Partner),
    ("/portal/people", Partner),
    ("/portal/requests", Partner),
    ("/r/:id", Either),
];

const FUNCTION_RULES: &[(&str, Whose)] = &[
    ("who", Anybody),
    ("sign_in", Anybody),
    ("sign_out", Anybody),
    ("invitation", Anybody),
    ("accept_invitation", Anybody),
    ("ways_in", Anybody),
    ("sign_up_plans", Anybody),
    ("sign_up", Anybody),
    ("password_reset", Anybody),
    ("reset_password", Anybody),
    ("ops_traffic", Ops),
    ("ops_partners", Ops),
    ("ops_partner", Ops),
    ("ops_plans", Ops),
    ("create_partner", Ops),
    ("change_plan", Ops),
    ("suspend_partner", Ops),
    ("ops_revoke_key", Ops),
    ("ops_invite", Ops),
    ("ops_reset_link", Ops),
    ("ops_people", Ops),
    ("ops_remove_person", Ops),
    ("ops_withdraw_invitation", Ops),
    ("ops_routes", Ops),
    ("ops_route", Ops),
    ("save_route", Ops),
    ("switch_route", Ops),
    ("ops_upstreams", Ops),
    ("open_breaker", Ops),
    ("close_breaker", Ops),
    ("ops_cache", Ops),
    ("purge_cache", Ops),
    ("ops_latency", Ops),
    ("ops_requests", Ops),
    ("ops_changes", Ops),
    ("ops_ledger", Ops),
    ("partner_traffic", Partner),
    ("partner_requests", Partner),
    ("partner_keys", Partner),
    ("partner_key", Partner),
    ("key_offer", Partner),
    ("create_key", Partner),
    ("rotate_key", Partner),
    ("rename_key", Partner),
    ("revoke_key", Partner),
    ("partner_manual", Partner),
    ("colleagues", Partner),
    ("invite_colleague", Partner),
    ("remove_colleague", Partner),
    ("withdraw_invitation", Partner),
    ("my_browsers", Either),
    ("change_password", Either),
    ("receipt", Either),
];

fn rule(rules: &[(&str, Whose)], what: &str) -> Whose {
    let found = rules.iter().find(|(name, _)| *name == what);
    found.unwrap_or_else(|| panic!("{what}: whose is it? Say so in the rules of this test")).1
}

/// As the route table writes their paths.
pub fn pages() -> BTreeMap<String, Whose> {
    let listed = leptos_axum::generate_route_list(App);
    let pages: BTreeMap<_, _> = listed
        .iter()
        // The list writes parameters as axum does.
        .map(|page| page.path().replace('{', ":").replace('}', ""))
        .map(|path| (path.clone(), rule(PAGE_RULES, &path)))
        .collect();
    assert_eq!(pages.len(), PAGE_RULES.len(), "a rule for a page that is gone");
    for page in PAGES {
        assert!(pages.keys().any(|known| as_axum(known) == page), "{page} takes forms and is no page");
    }
    pages
}

pub fn takes_forms(page: &str) -> bool {
    PAGES.contains(&as_axum(page).as_str())
}

fn as_axum(path: &str) -> String {
    let part = |part: &str| match part.strip_prefix(':') {
        Some(name) => format!("{{{name}}}"),
        None => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}

pub fn functions() -> BTreeMap<String, Whose> {
    let functions: BTreeMap<_, _> = server_fn_paths()
        .map(|(path, _)| path.trim_start_matches("/_fn/").to_owned())
        .map(|name| (name.clone(), rule(FUNCTION_RULES, &name)))
        .collect();
    assert_eq!(functions.len(), FUNCTION_RULES.len(), "a rule for a function that is gone");
    functions
}
