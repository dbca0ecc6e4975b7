//! Every input that is refused, with the line and the words.

use toll::manifest::apply::Options;
use toll::manifest::export::export;

use crate::support::catalog::{SAMPLE, declare, faults};
use crate::support::database::TestDatabase;

const UPSTREAM: &str = "[[upstream]]\nname = \"a\"\nurls = [\"http://h:1\"]\n";
const PLAN: &str = "[[plan]]\nname = \"p\"\ncapacity = 1\nrefill_per_second = 0\n";
const ROUTE: &str =
    "[[upstream]]\nname = \"a\"\nurls = [\"http://h:1\"]\n[[route]]\nname = \"r\"\nupstream = \"a\"\n";
const PARTNER: &str =
    "[[plan]]\nname = \"p\"\ncapacity = 1\nrefill_per_second = 0\n[[partner]]\nslug = \"s\"\nplan = \"p\"\n";

/// A beginning, what is added to it, and what is then wrong: all of it, in order.
type Case = (&'static str, &'static str, &'static [&'static str]);

const STRUCTURE: &[Case] = &[
    ("", "a = [", &["1: is not TOML: unclosed array, expected `]`"]),
    (
        "",
        "[[plan]]\nname = \"p\"\nname = \"q\"\n[x",
        &["3: is not TOML: duplicate key", "4: is not TOML: unclosed table, expected `]`"],
    ),
    ("", "[upstream]\nname = \"a\"", &["1: upstream is no list; write [[upstream]] in double brackets"]),
    ("", "plan = [1]", &["1: a plan must be a table; write such as { key = value }"]),
    (
        "",
        "\n[[upstreams]]",
        &["2: unknown key \"upstreams\"; the file takes [[upstream]], [[plan]], [[route]], [[partner]]"],
    ),
    (
        "",
        "version = 1",
        &["1: unknown key \"version\"; the file takes [[upstream]], [[plan]], [[route]], [[partner]]"],
    ),
    (
        UPSTREAM,
        "url = \"x\"",
        &[
            "4: unknown key \"url\"; an upstream takes name, urls, connect_timeout, timeout, health, headers, tls, breaker",
        ],
    ),
    (
        UPSTREAM,
        "breaker = { window = \"1s\",\n trips = 3 }",
        &["5: breaker: unknown key \"trips\"; a breaker takes failures, window, open_for, max_in_flight"],
    ),
    (
        UPSTREAM,
        "tls = { ca = \"\",\n roots = \"x\" }",
        &[
            "4: tls: ca: \"\" is no path of a file; write such as \"ca.pem\"",
            "5: tls: unknown key \"roots\"; tls takes ca, cert, key",
        ],
    ),
    (
        UPSTREAM,
        "tls = { cert = \"client.pem\" }",
        &["4: tls: has a cert and no key; add key = \"client.pem\""],
    ),
    (
        UPSTREAM,
        "tls = { ca = \"ca.pem\" }",
        &["4: tls: none of the urls begins with https://; remove it, or write the urls so"],
    ),
    (
        PLAN,
        "burst = 1",
        &[
            "5: unknown key \"burst\"; a plan takes name, capacity, refill_per_second, max_keys, routes, sign_up",
        ],
    ),
    (
        ROUTE,
        "path = \"/r\"\ncolour = \"red\"",
        &[
            "8: unknown key \"colour\"; a route takes name, path, upstream, strip, methods, access, body_limit, identity, cache, cache_ttl, cors, off",
        ],
    ),
    (PARTNER, "quota = 1", &["8: unknown key \"quota\"; a partner takes slug, name, plan, suspended"]),
    (
        "",
        "[[upstream]]",
        &[
            "1: an upstream has no name; add name = \"orders\"",
            "1: an upstream has no urls; add urls = [\"http://127.0.0.1:9000\"]",
        ],
    ),
    (
        "",
        "\n[[plan]]\nname = \"p\"",
        &[
            "2: plan \"p\" has no capacity; add capacity = 60",
            "2: plan \"p\" has no refill_per_second; add refill_per_second = 1.0",
        ],
    ),
    (
        "",
        "[[route]]\nname = \"r\"",
        &[
            "1: route \"r\" has no path; add path = \"/orders\"",
            "1: route \"r\" has no upstream; add upstream = \"orders\"",
        ],
    ),
    (
        "",
        "[[partner]]\nname = \"A\"",
        &["1: a partner has no plan; add plan = \"free\"", "1: a partner has no slug; add slug = \"orders\""],
    ),
];

const NAMES: &[Case] = &[
    (
        "",
        "[[plan]]\nname = \"Free\"\ncapacity = 1\nrefill_per_second = 1",
        &["2: name: \"Free\" is no name: write 1 to 63 lower-case letters, digits, \"-\" and \"_\""],
    ),
    (
        "",
        "[[plan]]\nname = \"\"\ncapacity = 1\nrefill_per_second = 1",
        &["2: name: \"\" is no name: write 1 to 63 lower-case letters, digits, \"-\" and \"_\""],
    ),
    (
        "",
        "[[plan]]\nname = 7\ncapacity = 1\nrefill_per_second = 1",
        &["2: name: is 7; write a text in quotes"],
    ),
    (
        UPSTREAM,
        "[[upstream]]\nname = \"a\"\nurls = [\"http://h:2\"]",
        &["5: upstream \"a\" is already declared on line 2; rename or remove one"],
    ),
    (
        PLAN,
        "[[plan]]\nname = \"p\"\ncapacity = 1\nrefill_per_second = 1",
        &["6: plan \"p\" is already declared on line 2; rename or remove one"],
    ),
    (
        ROUTE,
        "path = \"/r\"\n[[route]]\nname = \"r\"\npath = \"/s\"\nupstream = \"a\"",
        &["9: route \"r\" is already declared on line 5; rename or remove one"],
    ),
    (
        PARTNER,
        "[[partner]]\nslug = \"s\"\nplan = \"p\"",
        &["9: partner \"s\" is already declared on line 6; rename or remove one"],
    ),
    (
        ROUTE,
        "path = \"/r\"\n[[route]]\nname = \"t\"\nupstream = \"a\"\npath = \"/r\"",
        &["11: path: \"/r\" is already the path of the route on line 7; give each its own"],
    ),
    (PARTNER, "name = \" \"", &["8: name: \" \" is no name: write 1 to 100 visible characters in one line"]),
    (
        PARTNER,
        "name = \"a\\nb\"",
        &["8: name: \"a\\nb\" is no name: write 1 to 100 visible characters in one line"],
    ),
];

const REFERENCES: &[Case] = &[
    (
        "",
        "[[route]]\nname = \"r\"\npath = \"/r\"\nupstream = \"nowhere\"",
        &["4: route \"r\" refers to upstream \"nowhere\", which does not exist; declare it as [[upstream]]"],
    ),
    (
        PLAN,
        "routes = [\n\"r\",\n\"t\"]",
        &[
            "6: plan \"p\" refers to route \"r\", which does not exist; declare it as [[route]]",
            "7: plan \"p\" refers to route \"t\", which does not exist; declare it as [[route]]",
        ],
    ),
    (
        "",
        "[[partner]]\nslug = \"s\"\nplan = \"gold\"",
        &["3: partner \"s\" refers to plan \"gold\", which does not exist; declare it as [[plan]]"],
    ),
    // Something else being wrong with what is referred to is told once, not twice.
    (
        "",
        "[[upstream]]\nname = \"a\"\nurls = []\n[[route]]\nname = \"r\"\npath = \"/r\"\nupstream = \"a\"",
        &["3: urls: the list is empty; name at least one, or leave the key out"],
    ),
];

const NUMBERS: &[Case] = &[
    (
        "",
        "[[plan]]\nname = \"p\"\ncapacity = -1\nrefill_per_second = 1",
        &["3: capacity: is -1; write a whole number from 0 to 2147483647"],
    ),
    (
        "",
        "[[plan]]\nname = \"p\"\ncapacity = 2147483648\nrefill_per_second = 1",
        &["3: capacity: is 2147483648; write a whole number from 0 to 2147483647"],
    ),
    (
        "",
        "[[plan]]\nname = \"p\"\ncapacity = 1.5\nrefill_per_second = 1",
        &["3: capacity: is 1.5; write a whole number from 0 to 2147483647"],
    ),
    (
        "",
        "[[plan]]\nname = \"p\"\ncapacity = 1\nrefill_per_second = -0.1",
        &["4: refill_per_second: is -0.1; write a number of 0 or more, such as 1.0"],
    ),
    (
        "",
        "[[plan]]\nname = \"p\"\ncapacity = 1\nrefill_per_second = nan",
        &["4: refill_per_second: is nan; write a number of 0 or more, such as 1.0"],
    ),
    (
        "",
        "[[plan]]\nname = \"p\"\ncapacity = 1\nrefill_per_second = inf",
        &["4: refill_per_second: is inf; write a number of 0 or more, such as 1.0"],
    ),
    (
        "",
        "[[plan]]\nname = \"p\"\ncapacity = 1\nrefill_per_second = 1e999",
        &["4: refill_per_second: is 1e999; write a number of 0 or more, such as 1.0"],
    ),
    (
        "",
        "[[plan]]\nname = \"p\"\ncapacity = 1\nrefill_per_second = \"1\"",
        &["4: refill_per_second: is \"1\"; write a number of 0 or more, such as 1.0"],
    ),
    (PLAN, "max_keys = -1", &["5: max_keys: is -1; write a whole number from 0 to 2147483647"]),
    (PLAN, "sign_up = \"yes\"", &["5: sign_up: is \"yes\"; write true or false"]),
    (UPSTREAM, "breaker.failures = 0", &["4: breaker: failures: is 0; write a whole number from 1 to 1000"]),
    (
        UPSTREAM,
        "breaker.max_in_flight = 0",
        &["4: breaker: max_in_flight: is 0; write a whole number from 1 to 2147483647"],
    ),
    (
        UPSTREAM,
        "breaker.window = \"0s\"",
        &["4: breaker: window: \"0s\" is out of bounds; write at least \"1ms\" and at most \"365d\""],
    ),
    (UPSTREAM, "breaker = 5", &["4: breaker: a breaker must be a table; write such as { key = value }"]),
    (
        UPSTREAM,
        "timeout = \"10\"",
        &[
            "4: timeout: \"10\" is no duration: write a number and ms, s, m, h or d, such as \"250ms\", \"10s\" or \"30d\"",
        ],
    ),
    (UPSTREAM, "timeout = 10", &["4: timeout: is 10; write a duration in quotes, such as \"10s\""]),
    (
        UPSTREAM,
        "connect_timeout = \"-1s\"",
        &[
            "4: connect_timeout: \"-1s\" is no duration: write a number and ms, s, m, h or d, such as \"250ms\", \"10s\" or \"30d\"",
        ],
    ),
    (
        UPSTREAM,
        "connect_timeout = \"1us\"",
        &["4: connect_timeout: \"1us\" is finer than a millisecond; write such as \"250ms\""],
    ),
    (
        UPSTREAM,
        "connect_timeout = \"366d\"",
        &["4: connect_timeout: \"366d\" is out of bounds; write at least \"1ms\" and at most \"365d\""],
    ),
    (
        ROUTE,
        "path = \"/r\"\ncache_ttl = \"366d\"",
        &["8: cache_ttl: \"366d\" is too long; write at most \"365d\""],
    ),
    (
        ROUTE,
        "path = \"/r\"\nbody_limit = \"1 apple\"",
        &[
            "8: body_limit: \"1 apple\" is no size: write a whole number and a unit such as \"1MiB\", or \"none\"",
        ],
    ),
    (
        ROUTE,
        "path = \"/r\"\nbody_limit = 1024",
        &["8: body_limit: is 1024; write a size in quotes, such as \"1MiB\", or \"none\""],
    ),
    (
        ROUTE,
        "path = \"/r\"\nbody_limit = \"9223372036854775808\"",
        &["8: body_limit: \"9223372036854775808\" is too large; write \"none\" for no limit"],
    ),
];

const LISTS: &[Case] = &[
    (
        ROUTE,
        "path = \"/r\"\nmethods = []",
        &["8: methods: the list is empty; name at least one, or leave the key out"],
    ),
    (ROUTE, "path = \"/r\"\nmethods = \"GET\"", &["8: methods: is \"GET\"; write a list in brackets"]),
    (
        ROUTE,
        "path = \"/r\"\nmethods = [\n\"GET\",\n\"get\",\n\"GET\",\n\"CONNECT\"]",
        &[
            "10: methods: \"get\" is no method that a route can take: write capitals, such as \"GET\"; CONNECT is refused",
            "11: methods: \"GET\" stands there twice; remove one",
            "12: methods: \"CONNECT\" is no method that a route can take: write capitals, such as \"GET\"; CONNECT is refused",
        ],
    ),
    (ROUTE, "path = \"/r\"\naccess = \"open\"", &["8: access: is \"open\"; write \"key\" or \"public\""]),
    (
        ROUTE,
        "path = \"/r\"\ncors = [\"shop.example\"]",
        &[
            "8: cors: \"shop.example\" is no origin: it begins with neither http:// nor https://; write such as \"https://shop.example\"",
        ],
    ),
    (
        ROUTE,
        "path = \"/r\"\ncors = [\"https://shop.example/\"]",
        &[
            "8: cors: \"https://shop.example/\" is no origin: it has more than scheme, host and port; write such as \"https://shop.example\"",
        ],
    ),
    (
        ROUTE,
        "path = \"/r\"\ncors = [\"https://Shop.example\"]",
        &[
            "8: cors: \"https://Shop.example\" is no origin: browsers write hosts in lower case; write such as \"https://shop.example\"",
        ],
    ),
    (
        ROUTE,
        "path = \"/r\"\ncors = [\"https://shop.example:443\"]",
        &[
            "8: cors: \"https://shop.example:443\" is no origin: browsers leave out the usual port; write such as \"https://shop.example\"",
        ],
    ),
    (
        ROUTE,
        "path = \"/r\"\ncors = [\"https://:8\"]",
        &[
            "8: cors: \"https://:8\" is no origin: it has no host that can be called; write such as \"https://shop.example\"",
        ],
    ),
];

async fn refuses(cases: &[Case]) {
    let db = TestDatabase::new().await;
    declare(&db.pool, SAMPLE).await;
    let before = export(&db.pool).await.unwrap();
    for (begin, added, told) in cases {
        let text = format!("{begin}{added}\n");
        assert_eq!(faults(&db.pool, &text, Options::default()).await, *told, "{text}");
    }
    assert_eq!(export(&db.pool).await.unwrap(), before, "something was applied");
}

#[tokio::test]
async fn a_file_of_another_structure_is_refused() {
    refuses(STRUCTURE).await;
}

#[tokio::test]
async fn bad_and_duplicate_names_and_paths_are_refused() {
    refuses(NAMES).await;
}

#[tokio::test]
async fn names_that_stand_for_nothing_are_refused() {
    refuses(REFERENCES).await;
}

#[tokio::test]
async fn numbers_durations_and_sizes_out_of_bounds_are_refused() {
    refuses(NUMBERS).await;
}

#[tokio::test]
async fn lists_with_what_does_not_belong_there_are_refused() {
    refuses(LISTS).await;
}

#[tokio::test]
async fn all_that_is_wrong_is_told_at_once_in_the_order_of_lines() {
    let db = TestDatabase::new().await;
    let text = "[[partner]]\nslug = \"A\"\nplan = \"none\"\n\n[[route]]\nname = \"r\"\npath = \"r\"\nupstream = \"u\"\n\
                colour = 1\ncache = \"yes\"\n\n[[upstream]]\nname = \"v\"\ntimeout = \"soon\"\n";
    let told = faults(&db.pool, text, Options::default()).await;
    let lines: Vec<_> = told.iter().map(|fault| fault.split(':').next().unwrap()).collect();
    assert_eq!(lines, ["2", "3", "7", "8", "9", "10", "12", "14"], "{told:#?}");
}
