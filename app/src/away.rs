//! Whether a failed statement says that the database is away, rather than that something is wrong with the statement.

use sqlx::Error;

/// It takes no connections: class 08 of its errors, too many of them (53300), told to stop, crashed or starting (57P).
pub fn is_gone(error: &Error) -> bool {
    use Error::{Io, PoolClosed, PoolTimedOut, Protocol, Tls, WorkerCrashed};
    match code(error) {
        Some(code) => code.starts_with("08") || code.starts_with("57P") || code == "53300",
        None => matches!(error, Io(_) | Tls(_) | Protocol(_) | PoolTimedOut | PoolClosed | WorkerCrashed),
    }
}

/// It is gone, or it takes nothing in: without disk or memory (class 53), or only reading, as a replica does (25006).
pub fn is_away(error: &Error) -> bool {
    is_gone(error) || code(error).is_some_and(|code| code.starts_with("53") || code == "25006")
}

fn code(error: &Error) -> Option<String> {
    error.as_database_error()?.code().map(Into::into)
}
