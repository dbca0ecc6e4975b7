//! Taking accounts away and invitations back, however many do it at once.

use app::changes::{By, What, list};
use app::people::{
    AcceptError, InviteAs, IssueError, RemoveError, ResetError, SignInError, accept, find_invitation,
    find_reset, invite, invite_colleague, issue, remove, remove_colleague, reset, sign_in, withdraw,
};
use app::session::store;
use futures::future::join_all;
use serde_json::json;
use sqlx::PgPool;

use crate::people::partner;
use crate::support::database::TestDatabase;

const PASSWORD: &str = "nine lives are enough";
const ADA: By<'static> = By("ada@example.com");

/// A person, without the time that a password takes.
async fn person(db: &PgPool, email: &str, role: InviteAs) -> i64 {
    let (role, partner) = match role {
        InviteAs::Ops => ("ops", None),
        InviteAs::Partner(id) => ("partner", Some(id)),
    };
    sqlx::query_scalar(
        "insert into person (email, role, partner_id, password_hash) values ($1, $2, $3, '') returning id",
    )
    .bind(email)
    .bind(role)
    .bind(partner)
    .fetch_one(db)
    .await
    .unwrap()
}

async fn people(db: &PgPool) -> Vec<String> {
    sqlx::query_scalar("select email from person order by email").fetch_all(db).await.unwrap()
}

#[tokio::test]
async fn whoever_is_removed_is_out_at_once_and_what_they_did_stays_written_down() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    person(&db, "ada@example.com", InviteAs::Ops).await;
    let link = invite(&db, ADA, "bob@example.com", InviteAs::Ops).await.unwrap();
    let bob = accept(&db, &link, "", PASSWORD).await.unwrap();
    let (here, there) = (store::create(&db, bob).await.unwrap(), store::create(&db, bob).await.unwrap());
    invite(&db, By("bob@example.com"), "eve@example.com", InviteAs::Ops).await.unwrap();

    remove(&db, ADA, None, "Bob@example.com").await.unwrap();
    for session in [here, there] {
        assert_eq!(store::find(&db, &session).await.unwrap(), None);
    }
    let late = sign_in(&db, "bob@example.com", PASSWORD, "::1", None).await;
    assert!(matches!(late, Err(SignInError::Wrong)), "{late:?}");
    let again = remove(&db, ADA, None, "bob@example.com").await;
    assert!(matches!(again, Err(RemoveError::Unknown(_))), "{again:?}");

    let changes = list(&db, None, None, 9).await.unwrap();
    let told: Vec<_> = changes.iter().map(|c| (c.who.as_str(), c.what.as_str(), c.name.as_str())).collect();
    assert_eq!(
        told,
        [
            ("ada@example.com", "person", "bob@example.com"),
            ("bob@example.com", "invitation", "eve@example.com"),
            ("bob@example.com", "person", "bob@example.com"),
            ("ada@example.com", "invitation", "bob@example.com"),
        ]
    );
    assert_eq!((&changes[0].before, &changes[0].after), (&Some(json!({ "role": "ops" })), &None));
}

#[tokio::test]
async fn links_that_somebody_has_or_has_handed_out_end_with_the_account() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    person(&db, "ada@example.com", InviteAs::Ops).await;
    let second = invite(&db, ADA, "bob@example.com", InviteAs::Ops).await.unwrap();
    person(&db, "bob@example.com", InviteAs::Ops).await;
    let bobs = By("bob@example.com");
    let his = issue(&db, ADA, "bob@example.com").await.unwrap();
    let handed_out = invite(&db, bobs, "friend@example.com", InviteAs::Ops).await.unwrap();
    let adas_password = issue(&db, bobs, "ada@example.com").await.unwrap();
    let of_ada = invite(&db, ADA, "carol@example.com", InviteAs::Ops).await.unwrap();

    remove(&db, ADA, Some(InviteAs::Ops), "bob@example.com").await.unwrap();
    for link in [second, handed_out] {
        assert_eq!(find_invitation(&db, &link).await.unwrap(), None);
        assert!(matches!(accept(&db, &link, "", PASSWORD).await, Err(AcceptError::Over)));
    }
    for link in [his, adas_password] {
        assert_eq!(find_reset(&db, &link).await.unwrap(), None);
        assert!(matches!(reset(&db, &link, PASSWORD).await, Err(ResetError::Over)));
    }
    assert!(find_invitation(&db, &of_ada).await.unwrap().is_some());
}

#[tokio::test]
async fn nobody_removes_themselves_the_last_operator_or_somebody_of_another_team() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let (acme, globex) = (partner(&db, "acme").await, partner(&db, "globex").await);
    person(&db, "ada@example.com", InviteAs::Ops).await;
    person(&db, "bob@acme.example", InviteAs::Partner(acme)).await;
    person(&db, "eve@globex.example", InviteAs::Partner(globex)).await;

    let herself = remove(&db, ADA, None, "ada@example.com").await;
    assert!(matches!(herself, Err(RemoveError::Yourself)), "{herself:?}");
    let last = remove(&db, By("toll users"), None, "ada@example.com").await;
    assert!(matches!(last, Err(RemoveError::LastOperator)), "{last:?}");
    let himself = remove_colleague(&db, By("bob@acme.example"), acme, "bob@acme.example").await;
    assert!(matches!(himself, Err(RemoveError::Yourself)), "{himself:?}");
    for elsewhere in ["eve@globex.example", "ada@example.com", "nobody@example.com", "no address"] {
        let refused = remove_colleague(&db, By("bob@acme.example"), acme, elsewhere).await;
        assert!(matches!(refused, Err(RemoveError::Unknown(_))), "{elsewhere}: {refused:?}");
    }
    let of_acme = Some(InviteAs::Partner(acme));
    let wrong_page = remove(&db, ADA, of_acme, "eve@globex.example").await;
    assert!(matches!(wrong_page, Err(RemoveError::Unknown(_))), "{wrong_page:?}");
    assert_eq!(people(&db).await.len(), 3);

    // The last of a partner: an operator may, for the keys go on and somebody else can be invited.
    remove(&db, ADA, of_acme, "bob@acme.example").await.unwrap();
    assert_eq!(people(&db).await, ["ada@example.com", "eve@globex.example"]);
}

#[tokio::test]
async fn of_eight_operators_whom_many_remove_at_once_one_is_left() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let names: Vec<_> = (0..8).map(|n| format!("op{n}@example.com")).collect();
    for name in &names {
        person(&db, name, InviteAs::Ops).await;
    }
    // Each by the one before and by a command.
    let tasks = (0..16).map(|n| {
        let (db, names) = (db.clone(), names.clone());
        tokio::spawn(async move {
            let by = if n < 8 { By(&names[n]) } else { By("toll users") };
            remove(&db, by, None, &names[(n + 1) % 8]).await
        })
    });
    let done: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 7, "{done:?}");
    let refused = done.iter().filter_map(|done| done.as_ref().err());
    assert!(refused.clone().all(|e| matches!(e, RemoveError::LastOperator | RemoveError::Unknown(_))));
    assert!(refused.clone().any(|e| matches!(e, RemoveError::LastOperator)), "{done:?}");
    assert_eq!(people(&db).await.len(), 1);
}

#[tokio::test]
async fn of_colleagues_who_remove_each_other_at_once_one_is_left() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let acme = partner(&db, "acme").await;
    let names: Vec<_> = (0..8).map(|n| format!("bob{n}@acme.example")).collect();
    for name in &names {
        person(&db, name, InviteAs::Partner(acme)).await;
    }
    let pairs = (0..8).flat_map(|by| (0..8).map(move |whom| (by, whom))).filter(|(by, whom)| by != whom);
    let tasks = pairs.map(|(by, whom)| {
        let (db, names) = (db.clone(), names.clone());
        tokio::spawn(async move { remove_colleague(&db, By(&names[by]), acme, &names[whom]).await })
    });
    let done: Vec<_> = join_all(tasks).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 7, "{done:?}");
    assert!(!done.iter().any(|done| matches!(done, Err(RemoveError::Database(_)))), "{done:?}");
    assert_eq!(people(&db).await.len(), 1);
}

#[tokio::test]
async fn removing_somebody_who_gets_and_uses_links_at_that_moment_stops_nobody() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    person(&db, "ada@example.com", InviteAs::Ops).await;
    for round in 0..4 {
        let bob = person(&db, "bob@example.com", InviteAs::Ops).await;
        let link = issue(&db, ADA, "bob@example.com").await.unwrap();
        let (removed, used, issued, session) = tokio::join!(
            remove(&db, ADA, None, "bob@example.com"),
            reset(&db, &link, PASSWORD),
            issue(&db, ADA, "bob@example.com"),
            store::create(&db, bob),
        );
        removed.unwrap();
        assert!(matches!(used, Ok(_) | Err(ResetError::Over)), "{round}: {used:?}");
        assert!(matches!(issued, Ok(_) | Err(IssueError::Unknown(_))), "{round}: {issued:?}");
        assert_eq!(store::find(&db, &session.unwrap()).await.unwrap(), None);
    }
}

#[tokio::test]
async fn who_is_removed_while_signing_in_gets_a_session_that_opens_nothing() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    person(&db, "ada@example.com", InviteAs::Ops).await;
    let bob = person(&db, "bob@example.com", InviteAs::Ops).await;
    remove(&db, ADA, None, "bob@example.com").await.unwrap();
    let session = store::create(&db, bob).await.unwrap();
    assert_eq!(store::find(&db, &session).await.unwrap(), None);
}

#[tokio::test]
async fn an_invitation_that_is_withdrawn_is_like_one_that_never_was() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let (acme, globex) = (partner(&db, "acme").await, partner(&db, "globex").await);
    let to = |id| InviteAs::Partner(id);
    let first = invite(&db, ADA, "bob@acme.example", to(acme)).await.unwrap();
    let newer = invite(&db, ADA, "bob@acme.example", to(acme)).await.unwrap();
    let other = invite_colleague(&db, By("eve@globex.example"), "bob@acme.example", globex).await.unwrap();

    withdraw(&db, By("carol@acme.example"), Some(to(acme)), "Bob@acme.example").await.unwrap();
    for link in [first, newer] {
        assert_eq!(find_invitation(&db, &link).await.unwrap(), None);
        assert!(matches!(accept(&db, &link, "", PASSWORD).await, Err(AcceptError::Over)));
    }
    assert!(find_invitation(&db, &other).await.unwrap().is_some(), "another partner's is not theirs");
    let again = withdraw(&db, By("carol@acme.example"), Some(to(acme)), "bob@acme.example").await;
    assert!(matches!(again, Err(RemoveError::NotInvited(_))), "{again:?}");

    let [change, ..] = &list(&db, Some(What::Invitation), None, 9).await.unwrap()[..] else { panic!() };
    assert_eq!((change.who.as_str(), change.name.as_str()), ("carol@acme.example", "bob@acme.example"));
    assert_eq!(change.before, Some(json!({ "role": "partner", "partner": "acme" })));
    assert_eq!(change.after, None);
}

#[tokio::test]
async fn a_colleague_ends_the_partners_own_invitations_and_an_operator_all() {
    let TestDatabase { pool: db, .. } = TestDatabase::new().await;
    let (acme, globex) = (partner(&db, "acme").await, partner(&db, "globex").await);
    person(&db, "ada@example.com", InviteAs::Ops).await;
    person(&db, "carol@acme.example", InviteAs::Partner(acme)).await;
    let invite = async |to| invite_colleague(&db, By("toll users"), "bob@acme.example", to).await.unwrap();
    let is_good = async |link: &str| find_invitation(&db, link).await.unwrap().is_some();
    let (own, other) = (invite(acme).await, invite(globex).await);
    person(&db, "bob@acme.example", InviteAs::Partner(acme)).await;
    remove_colleague(&db, By("carol@acme.example"), acme, "bob@acme.example").await.unwrap();
    assert_eq!((is_good(&own).await, is_good(&other).await), (false, true));

    let own = invite(acme).await;
    person(&db, "bob@acme.example", InviteAs::Partner(acme)).await;
    remove(&db, ADA, None, "bob@acme.example").await.unwrap();
    assert_eq!((is_good(&own).await, is_good(&other).await), (false, false));
}
