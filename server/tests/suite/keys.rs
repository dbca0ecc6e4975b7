//! Making and ending keys.

use app::announce::{CHANNEL, Change};
use app::changes::By;
use app::domain::api_key::{ApiKey, KeyState};
use app::domain::key_text::is_well_formed;
use app::keys::{KeyError, MadeKey, NewKey, create, list, partner_by_slug, rename, revoke, rotate};
use sha2::{Digest, Sha256};
use sqlx::PgPool;
use sqlx::postgres::PgListener;
use time::Duration;
use toll::manifest::apply::Options;

use crate::support::catalog::{SAMPLE, declare, declare_with};
use crate::support::database::TestDatabase;
use crate::support::toll::PATIENCE;

const BY: By<'_> = By("toll keys");

/// `acme` is on a plan of three keys, for the routes `orders` and `products`.
async fn shop() -> (TestDatabase, i64, i64) {
    let db = TestDatabase::new().await;
    declare(&db.pool, SAMPLE).await;
    let acme = partner_by_slug(&db.pool, "acme").await.unwrap();
    let globex = partner_by_slug(&db.pool, "globex").await.unwrap();
    (db, acme, globex)
}

fn named(name: &str) -> NewKey<'_> {
    NewKey { name, ..NewKey::default() }
}

async fn made(db: &PgPool, partner: i64) -> MadeKey {
    create(db, BY, partner, named("ci")).await.unwrap()
}

async fn state(db: &PgPool, id: i64) -> KeyState {
    list(db, None).await.unwrap().into_iter().find(|key| key.id == id).unwrap().state
}

async fn ends(db: &PgPool, id: i64, ago: Duration) {
    sqlx::query("update api_key set expires_at = now() - make_interval(secs => $2) where id = $1")
        .bind(id)
        .bind(ago.as_seconds_f64())
        .execute(db)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_key_is_kept_as_a_hash_and_shown_by_its_beginning() {
    let (db, acme, _) = shop().await;
    let new = NewKey { name: "ci", expires_in: Some(Duration::days(30)), routes: None };
    let MadeKey { key, text } = create(&db.pool, BY, acme, new).await.unwrap();
    assert!(is_well_formed(&text));
    assert_eq!((key.name.as_str(), key.partner.as_str(), key.start.as_str()), ("ci", "acme", &text[..10]));
    assert_eq!(key.expires_at.unwrap() - key.created_at, Duration::days(30));
    assert_eq!(key.state, KeyState::Active);
    let row: String =
        sqlx::query_scalar("select row(api_key.*)::text from api_key").fetch_one(&db.pool).await.unwrap();
    let hash: Vec<u8> = sqlx::query_scalar("select hash from api_key").fetch_one(&db.pool).await.unwrap();
    assert_eq!(hash, Sha256::digest(text.as_bytes()).as_slice());
    assert!(!row.contains(&text[10..]));
    let made = MadeKey { key, text };
    assert!(!format!("{made:?}").contains(&made.text), "a key must not get into a log");
}

#[tokio::test]
async fn of_many_who_make_a_key_at_once_exactly_as_many_get_one_as_the_plan_allows() {
    let (db, acme, _) = shop().await;
    let tasks: Vec<_> = (0..24)
        .map(|_| {
            let pool = db.pool.clone();
            tokio::spawn(async move { create(&pool, BY, acme, named("ci")).await })
        })
        .collect();
    let (mut made, mut refused) = (0, 0);
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => made += 1,
            Err(KeyError::LimitReached { max: 3 }) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((made, refused), (3, 21));
    assert_eq!(list(&db.pool, Some(acme)).await.unwrap().len(), 3);
}

#[tokio::test]
async fn ended_keys_do_not_count_towards_the_limit() {
    let (db, acme, _) = shop().await;
    let (first, second, _) =
        (made(&db.pool, acme).await, made(&db.pool, acme).await, made(&db.pool, acme).await);
    assert!(matches!(create(&db.pool, BY, acme, named("x")).await, Err(KeyError::LimitReached { max: 3 })));
    revoke(&db.pool, BY, None, first.key.id).await.unwrap();
    made(&db.pool, acme).await;
    assert!(matches!(create(&db.pool, BY, acme, named("x")).await, Err(KeyError::LimitReached { max: 3 })));
    ends(&db.pool, second.key.id, Duration::seconds(1)).await;
    made(&db.pool, acme).await;
    assert!(matches!(create(&db.pool, BY, acme, named("x")).await, Err(KeyError::LimitReached { max: 3 })));
}

#[tokio::test]
async fn a_rotated_key_lives_on_for_the_overlap_and_both_count_as_one() {
    let (db, acme, _) = shop().await;
    let routes = ["orders".to_owned()];
    let new = NewKey { name: "ci", expires_in: Some(Duration::days(30)), routes: Some(&routes) };
    let old = create(&db.pool, BY, acme, new).await.unwrap();
    let successor = rotate(&db.pool, BY, None, old.key.id, Duration::minutes(15)).await.unwrap();
    assert_ne!(successor.text, old.text);
    assert_eq!(successor.key.name, "ci");
    assert_eq!(successor.key.routes.as_deref(), Some(routes.as_slice()));
    assert_eq!(successor.key.expires_at.unwrap() - successor.key.created_at, Duration::days(30));
    let kept: ApiKey =
        list(&db.pool, Some(acme)).await.unwrap().into_iter().find(|key| key.id == old.key.id).unwrap();
    assert_eq!(kept.state, KeyState::Rotating);
    assert_eq!(kept.revoked_at.unwrap() - successor.key.created_at, Duration::minutes(15));

    made(&db.pool, acme).await;
    made(&db.pool, acme).await;
    assert!(matches!(create(&db.pool, BY, acme, named("x")).await, Err(KeyError::LimitReached { max: 3 })));
    // The successor gone, the old one still counts: no partner has more live keys than that.
    revoke(&db.pool, BY, None, successor.key.id).await.unwrap();
    assert!(matches!(create(&db.pool, BY, acme, named("x")).await, Err(KeyError::LimitReached { max: 3 })));
    revoke(&db.pool, BY, None, old.key.id).await.unwrap();
    assert_eq!(state(&db.pool, old.key.id).await, KeyState::Revoked);
    made(&db.pool, acme).await;
}

#[tokio::test]
async fn rotating_never_makes_a_third_key_out_of_one() {
    let (db, acme, _) = shop().await;
    let old = made(&db.pool, acme).await.key.id;
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let pool = db.pool.clone();
            tokio::spawn(async move { rotate(&pool, BY, None, old, Duration::hours(1)).await })
        })
        .collect();
    let mut successors = Vec::new();
    for task in tasks {
        match task.await.unwrap() {
            Ok(made) => successors.push(made.key.id),
            Err(error) => assert!(matches!(error, KeyError::RotatedAlready), "{error}"),
        }
    }
    let [successor] = successors[..] else { panic!("{successors:?}") };
    let early = rotate(&db.pool, BY, None, successor, Duration::hours(1)).await;
    assert!(matches!(early, Err(KeyError::StillOverlapping)));
    revoke(&db.pool, BY, None, old).await.unwrap();
    let third = rotate(&db.pool, BY, None, successor, Duration::ZERO).await.unwrap();
    assert_eq!(state(&db.pool, successor).await, KeyState::Revoked);
    assert_eq!(state(&db.pool, third.key.id).await, KeyState::Active);
}

#[tokio::test]
async fn an_ended_key_is_not_rotated_and_stays_as_it_ended() {
    let (db, acme, _) = shop().await;
    let (revoked, expired) = (made(&db.pool, acme).await.key.id, made(&db.pool, acme).await.key.id);
    let first = revoke(&db.pool, BY, None, revoked).await.unwrap();
    let again = revoke(&db.pool, BY, None, revoked).await.unwrap();
    assert_eq!((first.state, first.revoked_at), (KeyState::Revoked, again.revoked_at));
    ends(&db.pool, expired, Duration::seconds(1)).await;
    for id in [revoked, expired] {
        assert!(matches!(rotate(&db.pool, BY, None, id, Duration::hours(1)).await, Err(KeyError::Ended)));
    }
    assert_eq!(state(&db.pool, expired).await, KeyState::Expired);
}

#[tokio::test]
async fn a_revocation_that_meets_a_rotation_is_never_put_off() {
    let (db, _, globex) = shop().await;
    for _ in 0..10 {
        let id = made(&db.pool, globex).await.key.id;
        let (pool, other) = (db.pool.clone(), db.pool.clone());
        let revoked = tokio::spawn(async move { revoke(&pool, BY, None, id).await });
        let rotated = tokio::spawn(async move { rotate(&other, BY, None, id, Duration::hours(1)).await });
        revoked.await.unwrap().unwrap();
        if let Ok(made) = rotated.await.unwrap() {
            revoke(&db.pool, BY, None, made.key.id).await.unwrap();
        }
        assert_eq!(state(&db.pool, id).await, KeyState::Revoked);
    }
}

#[tokio::test]
async fn a_partner_can_only_touch_its_own_keys() {
    let (db, acme, globex) = shop().await;
    let (mine, theirs) = (made(&db.pool, acme).await.key, made(&db.pool, globex).await.key);
    let (scope, id) = (Some(acme), theirs.id);
    assert!(matches!(revoke(&db.pool, BY, scope, id).await, Err(KeyError::NotFound(n)) if n == id));
    assert!(
        matches!(rotate(&db.pool, BY, scope, id, Duration::ZERO).await, Err(KeyError::NotFound(n)) if n == id)
    );
    assert!(matches!(rename(&db.pool, BY, scope, id, "x").await, Err(KeyError::NotFound(n)) if n == id));
    assert_eq!(list(&db.pool, scope).await.unwrap(), std::slice::from_ref(&mine));
    assert_eq!(list(&db.pool, None).await.unwrap(), [mine, theirs]);
    assert!(matches!(revoke(&db.pool, BY, None, 999).await, Err(KeyError::NotFound(999))));
}

#[tokio::test]
async fn names_spans_and_routes_that_cannot_be_are_refused() {
    let (db, acme, _) = shop().await;
    for name in ["", " ", "a\nb", &"x".repeat(101)] {
        assert!(matches!(create(&db.pool, BY, acme, named(name)).await, Err(KeyError::BadName)), "{name:?}");
    }
    for span in [Duration::ZERO, Duration::seconds(-1), Duration::days(3661)] {
        let new = NewKey { name: "ci", expires_in: Some(span), routes: None };
        assert!(matches!(create(&db.pool, BY, acme, new).await, Err(KeyError::BadExpiry)), "{span}");
    }
    // `status` is a route, but none of the plan; the other is none at all.
    for route in ["status", "nothing"] {
        let routes = ["orders".to_owned(), route.to_owned()];
        let new = NewKey { name: "ci", expires_in: None, routes: Some(&routes) };
        assert!(
            matches!(create(&db.pool, BY, acme, new).await, Err(KeyError::NoRoute(name)) if name == route)
        );
    }
    let new = NewKey { name: "ci", expires_in: None, routes: Some(&[]) };
    assert!(matches!(create(&db.pool, BY, acme, new).await, Err(KeyError::NoRoutes)));
    assert!(matches!(create(&db.pool, BY, 999, named("ci")).await, Err(KeyError::NoPartner(_))));
    assert!(matches!(partner_by_slug(&db.pool, "nobody").await, Err(KeyError::NoPartner(_))));
    assert_eq!(list(&db.pool, None).await.unwrap(), []);
    let id = create(&db.pool, BY, acme, named(&"ü".repeat(100))).await.unwrap().key.id;
    for overlap in [Duration::seconds(-1), Duration::days(31)] {
        assert!(
            matches!(rotate(&db.pool, BY, None, id, overlap).await, Err(KeyError::BadOverlap)),
            "{overlap}"
        );
    }
}

#[tokio::test]
async fn each_change_of_a_key_is_heard_by_its_hash() {
    let (db, acme, _) = shop().await;
    let mut listener = PgListener::connect_with(&db.pool).await.unwrap();
    listener.listen(CHANNEL).await.unwrap();
    let hash = |made: &MadeKey| Change::Key(Sha256::digest(made.text.as_bytes()).into());
    let first = made(&db.pool, acme).await;
    rename(&db.pool, BY, Some(acme), first.key.id, "nightly").await.unwrap();
    let second = rotate(&db.pool, BY, Some(acme), first.key.id, Duration::hours(1)).await.unwrap();
    assert_eq!(second.key.name, "nightly");
    revoke(&db.pool, BY, Some(acme), first.key.id).await.unwrap();
    revoke(&db.pool, BY, Some(acme), first.key.id).await.unwrap();
    revoke(&db.pool, BY, Some(acme), second.key.id).await.unwrap();
    let mut heard = Vec::new();
    for _ in 0..6 {
        let notice = tokio::time::timeout(PATIENCE, listener.recv()).await.unwrap().unwrap();
        heard.push(notice.payload().parse::<Change>().unwrap());
    }
    let (first, second) = (hash(&first), hash(&second));
    assert_eq!(heard, [first, first, second, first, first, second], "the second revocation changed nothing");
}

#[tokio::test]
async fn a_retired_partners_keys_are_revoked_and_do_not_come_back_with_its_name() {
    let (db, _, globex) = shop().await;
    let key = made(&db.pool, globex).await;
    let mut listener = PgListener::connect_with(&db.pool).await.unwrap();
    listener.listen(CHANNEL).await.unwrap();
    let (without, _) = SAMPLE.split_once("[[partner]]\nslug = \"globex\"").unwrap();
    declare_with(&db.pool, without, Options { prune: true, ..Options::default() }).await;
    let mut heard = Vec::new();
    for _ in 0..2 {
        let notice = tokio::time::timeout(PATIENCE, listener.recv()).await.unwrap().unwrap();
        heard.push(notice.payload().parse::<Change>().unwrap());
    }
    assert_eq!(heard, [Change::Catalog, Change::Key(Sha256::digest(key.text.as_bytes()).into())]);
    assert!(matches!(partner_by_slug(&db.pool, "globex").await, Err(KeyError::NoPartner(_))));
    assert!(matches!(create(&db.pool, BY, globex, named("x")).await, Err(KeyError::NoPartner(_))));
    declare(&db.pool, SAMPLE).await;
    assert_eq!(list(&db.pool, None).await.unwrap(), []);
    let revoked: bool =
        sqlx::query_scalar("select revoked_at <= now() from api_key").fetch_one(&db.pool).await.unwrap();
    assert!(revoked);
}
