//! What a browser may be told when something fails: written for people, never a cause's own text.

use leptos::server_fn::codec::JsonEncoding;
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use serde::{Deserialize, Serialize};

use crate::domain::numbers::count;

/// Why a server function did not answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Error {
    #[error("You are signed out.")]
    SignedOut,
    #[error("This page is not yours to see.")]
    Forbidden,
    #[error("There is nothing here.")]
    NotFound,
    /// What was sent cannot be taken; the text says what to change.
    #[error("{0}")]
    Invalid(String),
    #[error("Too many attempts. Wait {} and try again.", count(u64::from(*.minutes), "minute"))]
    TooManyAttempts { minutes: u32 },
    /// The browser could not reach Toll.
    #[error("Toll cannot be reached.")]
    Unreachable,
    #[error("Toll's database does not answer.")]
    Away,
    /// Toll's own fault; the cause is in its log.
    #[error("Something failed on Toll's side. It has been logged.")]
    Internal,
}

impl Error {
    /// A field is missing, or says what no form of ours says.
    pub fn incomplete() -> Error {
        Error::Invalid("The form was incomplete.".into())
    }

    /// What a form without scripts was answered, where that came by way of the page's address. Anybody can write an address: no text
    /// of it is repeated.
    pub fn by_address(&self) -> String {
        match self {
            Error::Invalid(_) => {
                "That was not done: what the page showed had changed meanwhile, or the form was incomplete. Look again, and \
                 decide anew."
                    .into()
            }
            other => other.to_string(),
        }
    }

    pub fn status(&self) -> u16 {
        match self {
            Error::SignedOut => 401,
            Error::Forbidden => 403,
            Error::NotFound => 404,
            Error::Invalid(_) => 422,
            Error::TooManyAttempts { .. } => 429,
            Error::Unreachable | Error::Internal => 500,
            Error::Away => 503,
        }
    }
}

/// When to ask again for what could not be answered without the database.
pub const AGAIN_SECONDS: u32 = 5;

impl FromServerFnError for Error {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(value: ServerFnErrorErr) -> Self {
        let error = match value {
            ServerFnErrorErr::Request(_) => Error::Unreachable,
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) => Error::incomplete(),
            _ => Error::Internal,
        };
        // No function was called that could have said so.
        #[cfg(feature = "ssr")]
        error.tell_status_unless_led_back();
        error
    }
}

#[cfg(feature = "ssr")]
mod on_the_server {
    use std::fmt::Display;
    use std::future::Future;

    use http::{HeaderValue, Method, StatusCode, header, request::Parts};
    use leptos::prelude::use_context;
    use leptos_axum::ResponseOptions;

    use super::Error;
    use crate::away::is_away;
    use crate::keys::KeyError;
    use crate::manifest::edit::EditError;

    impl Error {
        /// Gives the response its status, and says when to come back.
        pub fn tell_status(&self) {
            if let (Some(response), Ok(status)) =
                (use_context::<ResponseOptions>(), StatusCode::from_u16(self.status()))
            {
                response.set_status(status);
                if let Error::TooManyAttempts { minutes } = self {
                    response.insert_header(header::RETRY_AFTER, HeaderValue::from(minutes * 60));
                }
            }
        }

        /// The same, but that a form which was posted without scripts to a server function keeps its redirect: the page that it
        /// leads back to shows the error.
        pub(super) fn tell_status_unless_led_back(&self) {
            if use_context::<Parts>().is_some_and(|request| !is_plain_form(&request)) {
                self.tell_status();
            }
        }

        /// Logs the cause, here and only here, and keeps it from the browser.
        pub fn internal(cause: impl Display) -> Error {
            tracing::error!(%cause, "a screen failed");
            Error::Internal
        }
    }

    impl From<KeyError> for Error {
        fn from(cause: KeyError) -> Error {
            match cause {
                KeyError::Database(cause) => cause.into(),
                KeyError::NotFound(_) | KeyError::NoPartner(_) => Error::NotFound,
                told => Error::Invalid(sentence(&told.to_string())),
            }
        }
    }

    impl From<EditError> for Error {
        fn from(cause: EditError) -> Error {
            match cause {
                EditError::Database(cause) => cause.into(),
                told @ EditError::Wrong(_) => Error::Invalid(told.to_string()),
            }
        }
    }

    /// Commands say "the name is too long", pages "The name is too long."
    pub fn sentence(text: &str) -> String {
        let mut letters = text.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).chain(['.']).collect())
            .unwrap_or_default()
    }

    impl From<sqlx::Error> for Error {
        /// That the database is away is said once by whoever watches it, and not for each request.
        fn from(cause: sqlx::Error) -> Error {
            match cause.as_database_error().and_then(|cause| cause.code()).as_deref() {
                _ if is_away(&cause) => Error::Away,
                // What came from outside has a NUL in it, which PostgreSQL keeps in no text.
                Some("22021") => Error::Invalid("There is a character in it that no text here has.".into()),
                _ => Error::internal(cause),
            }
        }
    }

    /// Gives the response the status of what went wrong.
    pub fn answer<'a, T: Send>(
        work: impl Future<Output = Result<T, Error>> + Send + 'a,
    ) -> impl Future<Output = Result<T, Error>> + Send + 'a {
        // On the heap from here on: what a screen reads makes a large future, and views move it about.
        let work = Box::pin(work);
        async move {
            let result = work.await;
            if let Err(error) = &result {
                error.tell_status_unless_led_back();
            }
            result
        }
    }

    fn is_plain_form(request: &Parts) -> bool {
        let accept = request.headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        let to_function = request.uri.path().starts_with("/_fn/");
        request.method == Method::POST
            && to_function
            && accept.is_some_and(|accept| accept.contains("text/html"))
    }
}

#[cfg(feature = "ssr")]
pub use on_the_server::{answer, sentence};
