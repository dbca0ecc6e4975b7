//! Forms that a page answers by itself, because what it answers must not be in a URL: a key or a link that is shown once, what
//! was typed beside what is wrong with it. All other forms go to server functions, which lead back to a page.

use http::request::Parts;
use leptos::prelude::use_context;

use crate::error::Error;

/// The pages that take a form, as the router writes their paths.
pub const PAGES: [&str; 14] = [
    "/",
    "/account",
    "/invite/{token}",
    "/portal/keys/new",
    "/portal/keys/{id}/{act}",
    "/portal/people",
    "/reset/{token}",
    "/sign-up",
    "/ops/cache",
    "/ops/partners/new",
    "/ops/partners/{slug}",
    "/ops/people",
    "/ops/routes/new",
    "/ops/routes/{name}",
];

/// The fields of the form that this page is the answer to. Put into the request's extensions by the router. May hold a
/// password, so it is never printed.
#[derive(Clone, Default)]
pub struct Posted(pub Vec<(String, String)>);

/// A form as its page shows it: empty, or with what was typed and what is wrong with that.
#[derive(Clone, Default)]
pub struct Draft {
    pub typed: Posted,
    pub problem: Option<String>,
}

impl Draft {
    /// On a page of several forms: what to tell of the others, and the form that does `act`, where that is told too which
    /// none of them can have sent.
    pub fn apart(self, act: &str) -> (Option<String>, Draft) {
        match self.typed.get("act") {
            other if !other.is_empty() && other != act => (self.problem, Draft::default()),
            _ => (None, self),
        }
    }
}

impl Posted {
    pub fn current() -> Option<Posted> {
        use_context::<Parts>()?.extensions.get::<Posted>().cloned()
    }

    /// Every field of that name.
    pub fn all(&self, name: &str) -> Vec<String> {
        self.0.iter().filter(|(key, _)| key == name).map(|(_, value)| value.clone()).collect()
    }

    /// The first field of that name; empty if there is none.
    pub fn get(&self, name: &str) -> String {
        self.all(name).into_iter().next().unwrap_or_default()
    }

    /// A whole number. A form that does not say it means `otherwise`.
    pub fn number(&self, name: &str, otherwise: i64) -> Result<i64, Error> {
        match self.0.iter().find(|(key, _)| key == name) {
            Some((_, text)) => text.parse().map_err(|_| Error::incomplete()),
            None => Ok(otherwise),
        }
    }

    /// What a page shows that goes on with either: what was done and an empty form, or nothing and what was typed.
    pub fn outcome<T: Default>(self, done: Result<T, Error>) -> Result<(T, Draft), Error> {
        Ok(match self.judge(done)? {
            Ok(done) => (done, Draft::default()),
            Err(draft) => (T::default(), draft),
        })
    }

    /// What became of the form. Of what whoever sent it can mend, the form tells; of anything else, the page.
    pub fn judge<T>(self, done: Result<T, Error>) -> Result<Result<T, Draft>, Error> {
        match done {
            Ok(done) => Ok(Ok(done)),
            Err(told @ (Error::Invalid(_) | Error::TooManyAttempts { .. })) => {
                // What a server function refuses has its status already.
                told.tell_status();
                Ok(Err(Draft { typed: self, problem: Some(told.to_string()) }))
            }
            Err(error) => Err(error),
        }
    }
}
