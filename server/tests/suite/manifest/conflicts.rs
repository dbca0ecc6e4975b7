//! A file that is right in itself, and does not go with what the database keeps.

use toll::manifest::apply::Options;

use crate::support::catalog::{SAMPLE, declare, declare_with, faults};
use crate::support::database::TestDatabase;

#[tokio::test]
async fn a_path_that_another_route_keeps_is_refused_and_one_that_it_gives_up_is_not() {
    let db = TestDatabase::new().await;
    declare(&db.pool, SAMPLE).await;
    let text = "[[route]]\nname = \"new\"\npath = \"/status\"\nupstream = \"catalogue\"\n";
    assert_eq!(
        faults(&db.pool, text, Options::default()).await,
        ["3: path: \"/status\" is already the path of route \"status\", which the file lacks; \
          declare that one too, or --prune"]
    );
    let exchanged = SAMPLE
        .replace("\"/status\"", "\"/x\"")
        .replace("\"/orders\"", "\"/status\"")
        .replace("\"/x\"", "\"/orders\"");
    let difference = declare(&db.pool, &exchanged).await;
    assert_eq!(difference.changes.len(), 2, "{difference}");
}

#[tokio::test]
async fn what_a_remaining_thing_uses_is_not_pruned() {
    let db = TestDatabase::new().await;
    declare(&db.pool, SAMPLE).await;
    let text = "[[route]]\nname = \"orders\"\npath = \"/orders\"\nupstream = \"orders\"\n\
                [[partner]]\nslug = \"acme\"\nplan = \"free\"\n";
    let prune = Options { prune: true, ..Options::default() };
    assert_eq!(
        faults(&db.pool, text, prune).await,
        [
            "4: route \"orders\" still uses upstream \"orders\", which --prune would retire; declare it as [[upstream]]",
            "7: partner \"acme\" still uses plan \"free\", which --prune would retire; declare it as [[plan]]",
        ]
    );
    // A file that is only a part may refer to what the database has.
    let difference = declare_with(&db.pool, text, Options::default()).await;
    assert!(!difference.is_empty());
}
