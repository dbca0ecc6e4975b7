//! Whether a failed statement says that the database is away, rather than that something is wrong with the statement.

/// A database that takes no connections, or takes nothing in: class 08 of its errors are connections, 53 is what it has
/// run out of (connections, memory, disk), 57P that it was told to stop, crashed or is starting, 25006 that it only reads,
/// as a replica does.
pub fn is_away(error: &sqlx::Error) -> bool {
    use sqlx::Error::{Database, Io, PoolClosed, PoolTimedOut, Protocol, Tls, WorkerCrashed};
    match error {
        Database(refused) => refused.code().is_some_and(|code| {
            ["08", "53", "57P"].iter().any(|class| code.starts_with(class)) || code == "25006"
        }),
        other => matches!(other, Io(_) | Tls(_) | Protocol(_) | PoolTimedOut | PoolClosed | WorkerCrashed),
    }
}
