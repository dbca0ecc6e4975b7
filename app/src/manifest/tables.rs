//! The four tables of the file, key by key, with their defaults.

use std::collections::BTreeMap;

use super::file::{File, Lines, Reader, Reference};
use super::reader::{Faults, Fields, Value};
use super::values::{
    access, boolean, duration, headers, list, rate, ruled, size_or_none, some_of, sorted, whole,
};
use super::{Access, Breaker, Kind, Partner, Plan, Route, TlsFiles, Upstream, rules};

impl Reader {
    pub fn upstream(&mut self, entry: &Value<'_>) -> Option<()> {
        let known = ["name", "urls", "connect_timeout", "timeout", "health", "headers", "tls", "breaker"];
        let mut fields = Fields::open("an upstream", entry, &known, &mut self.faults)?;
        let name = declare(Kind::Upstream, &mut fields, &mut self.file, &self.lines);
        let urls = fields.required("urls", "[\"http://127.0.0.1:9000\"]", |value, faults| {
            some_of(value, faults, |value, faults| {
                let url = ruled(rules::url)(value, faults)?;
                // The same requests are made with and without it, and one spelling tells urls apart.
                Some(url.strip_suffix('/').unwrap_or(&url).to_owned())
            })
        });
        let connect_timeout_ms = fields.or("connect_timeout", 1000, duration(1));
        let timeout_ms = fields.or("timeout", 10_000, duration(1));
        let health = fields.perhaps("health", ruled(rules::health));
        let headers = fields.or("headers", BTreeMap::new(), headers);
        let tls = fields.or("tls", TlsFiles::default(), tls);
        if let (Some(tls), Some(urls)) = (&tls, &urls)
            && *tls != TlsFiles::default()
            && !urls.iter().any(|url| url.starts_with("https://"))
        {
            let at = fields.at("tls");
            fields.faults.add_to(
                "tls",
                at,
                "none of the urls begins with https://; remove it, or write the urls so",
            );
        }
        let breaker = fields.or("breaker", Breaker::default(), breaker);
        let upstream = Upstream {
            urls: urls?,
            connect_timeout_ms: connect_timeout_ms?,
            timeout_ms: timeout_ms?,
            health: health?,
            headers: headers?,
            tls: tls?,
            breaker: breaker?,
        };
        self.file.manifest.upstreams.insert(name?, upstream);
        Some(())
    }

    pub fn plan(&mut self, entry: &Value<'_>) -> Option<()> {
        let known = ["name", "capacity", "refill_per_second", "max_keys", "routes", "sign_up"];
        let mut fields = Fields::open("a plan", entry, &known, &mut self.faults)?;
        let name = declare(Kind::Plan, &mut fields, &mut self.file, &self.lines);
        let capacity = fields.required("capacity", "60", whole(0..=i32::MAX));
        let refill_per_second = fields.required("refill_per_second", "1.0", rate);
        let max_keys = fields.or("max_keys", 10, whole(0..=i32::MAX));
        let by = fields.what.clone();
        let (references, lines) = (&mut self.file.references, &self.lines);
        let routes = fields.perhaps("routes", |value, faults| {
            list(value, faults, |value, faults| {
                let name = ruled(rules::name)(value, faults)?;
                let line = lines.line(value.span().start);
                references.push(Reference { line, by: by.clone(), kind: Kind::Route, name: name.clone() });
                Some(name)
            })
        });
        let sign_up = fields.or("sign_up", false, boolean);
        let plan = Plan {
            capacity: capacity?,
            refill_per_second: refill_per_second?,
            max_keys: max_keys?,
            routes: routes?.map(sorted),
            sign_up: sign_up?,
        };
        self.file.manifest.plans.insert(name?, plan);
        Some(())
    }

    pub fn route(&mut self, entry: &Value<'_>) -> Option<()> {
        let known = [
            "name",
            "path",
            "upstream",
            "strip",
            "methods",
            "access",
            "body_limit",
            "identity",
            "cache",
            "cache_ttl",
            "cors",
            "off",
        ];
        let mut fields = Fields::open("a route", entry, &known, &mut self.faults)?;
        let name = declare(Kind::Route, &mut fields, &mut self.file, &self.lines);
        let path = fields.required("path", "\"/orders\"", ruled(rules::path));
        if let Some(path) = &path {
            let line = self.lines.line(fields.at("path"));
            if let Some(first) = self.file.paths.get(path) {
                let message =
                    format!("{path:?} is already the path of the route on line {first}; give each its own");
                let at = fields.at("path");
                fields.faults.add_to("path", at, message);
            } else {
                self.file.paths.insert(path.clone(), line);
            }
        }
        let upstream = fields.required("upstream", "\"orders\"", ruled(rules::name));
        if let Some(upstream) = &upstream {
            let line = self.lines.line(fields.at("upstream"));
            let by = fields.what.clone();
            self.file.references.push(Reference { line, by, kind: Kind::Upstream, name: upstream.clone() });
        }
        let strip = fields.or("strip", true, boolean);
        let methods = fields.perhaps("methods", |value, faults| some_of(value, faults, ruled(rules::method)));
        let access = fields.or("access", Access::Key, access);
        let body_limit = fields.or("body_limit", Some(1 << 20), size_or_none);
        let identity = fields.or("identity", false, boolean);
        let cache = fields.or("cache", false, boolean);
        let cache_ttl_ms = fields.or("cache_ttl", 0, duration(0));
        let cors = fields.or("cors", Vec::new(), |value, faults| list(value, faults, ruled(rules::origin)));
        let off = fields.or("off", false, boolean);
        let route = Route {
            path: path?,
            upstream: upstream?,
            strip: strip?,
            methods: methods?.map(sorted),
            access: access?,
            body_limit: body_limit?,
            identity: identity?,
            cache: cache?,
            cache_ttl_ms: cache_ttl_ms?,
            cors: sorted(cors?),
            off: off?,
        };
        self.file.manifest.routes.insert(name?, route);
        Some(())
    }

    pub fn partner(&mut self, entry: &Value<'_>) -> Option<()> {
        let known = ["slug", "name", "plan", "suspended"];
        let mut fields = Fields::open("a partner", entry, &known, &mut self.faults)?;
        let slug = declare(Kind::Partner, &mut fields, &mut self.file, &self.lines);
        let name = fields.perhaps("name", ruled(rules::title));
        let plan = fields.required("plan", "\"free\"", ruled(rules::name));
        if let Some(plan) = &plan {
            let line = self.lines.line(fields.at("plan"));
            let by = fields.what.clone();
            self.file.references.push(Reference { line, by, kind: Kind::Plan, name: plan.clone() });
        }
        let suspended = fields.or("suspended", false, boolean);
        let name = name?.or_else(|| slug.clone());
        let partner = Partner { name: name?, plan: plan?, suspended: suspended? };
        self.file.manifest.partners.insert(slug?, partner);
        Some(())
    }
}

/// Paths; the files are each node's own, and are read there.
fn tls(value: &Value<'_>, faults: &mut Faults) -> Option<TlsFiles> {
    let mut fields = Fields::open("tls", value, &["ca", "cert", "key"], faults)?;
    let ca = fields.perhaps("ca", ruled(rules::file));
    let cert = fields.perhaps("cert", ruled(rules::file));
    let key = fields.perhaps("key", ruled(rules::file));
    let files = TlsFiles { ca: ca?, cert: cert?, key: key? };
    if files.cert.is_some() != files.key.is_some() {
        let (has, lacks) = if files.cert.is_some() { ("cert", "key") } else { ("key", "cert") };
        let at = fields.at(has);
        fields.faults.add(at, format!("has a {has} and no {lacks}; add {lacks} = \"client.pem\""));
        return None;
    }
    Some(files)
}

fn breaker(value: &Value<'_>, faults: &mut Faults) -> Option<Breaker> {
    let usual = Breaker::default();
    let known = ["failures", "window", "open_for", "max_in_flight"];
    let mut fields = Fields::open("a breaker", value, &known, faults)?;
    // An array of this many moments is kept in the breaker's row.
    let failures = fields.or("failures", usual.failures, whole(1..=1000));
    let window_ms = fields.or("window", usual.window_ms, duration(1));
    let open_ms = fields.or("open_for", usual.open_ms, duration(1));
    let max_in_flight = fields.or("max_in_flight", usual.max_in_flight, whole(1..=i32::MAX));
    Some(Breaker {
        failures: failures?,
        window_ms: window_ms?,
        open_ms: open_ms?,
        max_in_flight: max_in_flight?,
    })
}

/// The name, once: a second declaration is told and none.
fn declare(kind: Kind, fields: &mut Fields<'_, '_>, file: &mut File, lines: &Lines) -> Option<String> {
    let name = fields.required(kind.name_key(), "\"orders\"", ruled(rules::name))?;
    fields.what = format!("{kind} {name:?}");
    let at = fields.at(kind.name_key());
    if let Some(first) = file.declared.get(&(kind, name.clone())) {
        fields
            .faults
            .add(at, format!("{kind} {name:?} is already declared on line {first}; rename or remove one"));
        return None;
    }
    file.declared.insert((kind, name.clone()), lines.line(at));
    Some(name)
}
