//! Signing up by oneself, where a plan allows it: a new partner on that plan, and its first person.

use rand::Rng;
use serde_json::json;
use sqlx::{PgConnection, PgPool};

use super::password::{self, PasswordError};
use super::{minutes, normal_email};
use crate::announce::{Change, announce};
use crate::changes::{self, By, What};
use crate::domain::title;

/// Sign-ups from one address within an hour.
const BY_ADDRESS: i64 = 20;

/// A plan that anyone may take.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, sqlx::FromRow)]
pub struct OpenPlan {
    pub name: String,
    pub capacity: i32,
    pub refill_per_second: f64,
}

/// What somebody wrote into the form.
#[derive(Clone)]
pub struct SignUp<'a> {
    pub plan: &'a str,
    /// Of the partner, as screens call it.
    pub name: &'a str,
    pub email: &'a str,
    pub password: &'a str,
}

#[derive(Debug, thiserror::Error)]
pub enum SignUpError {
    #[error("There is no such plan to sign up for.")]
    NoPlan,
    #[error("A name has 1 to 100 visible characters in one line.")]
    BadName,
    #[error("This is no e-mail address.")]
    NoAddress,
    #[error("too many sign-ups")]
    TooMany { minutes: u32 },
    #[error(transparent)]
    Password(#[from] PasswordError),
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// The plans that anyone may take, the smallest first.
pub async fn open_plans(db: &PgPool) -> sqlx::Result<Vec<OpenPlan>> {
    sqlx::query_as(
        "select name, capacity, refill_per_second from plan
         where sign_up and retired_at is null order by capacity, refill_per_second, name",
    )
    .fetch_all(db)
    .await
}

/// Makes partner and person, unless the address has an account already: then nothing is made, and nothing is said either,
/// by word or by time. Who owns the address can sign in; nobody learns whether somebody else can.
pub async fn sign_up(db: &PgPool, form: SignUp<'_>, from: &str) -> Result<(), SignUpError> {
    let email = normal_email(form.email).ok_or(SignUpError::NoAddress)?;
    let name = form.name.trim();
    if !title::fits(name) {
        return Err(SignUpError::BadName);
    }
    let password_hash = password::hash(form.password, &[&email, name]).await?;
    let mut transaction = db.begin().await?;
    note(&mut transaction, from).await?;
    let plan: Option<i64> =
        sqlx::query_scalar("select id from plan where name = $1 and sign_up and retired_at is null")
            .bind(form.plan)
            .fetch_optional(&mut *transaction)
            .await?;
    let plan = plan.ok_or(SignUpError::NoPlan)?;
    sqlx::query("savepoint before_partner").execute(&mut *transaction).await?;
    let partner = partner(&mut transaction, plan, name).await?;
    let person = sqlx::query(
        "insert into person (email, role, partner_id, password_hash) values ($1, 'partner', $2, $3)
         on conflict (email) do nothing",
    )
    .bind(&email)
    .bind(partner)
    .bind(&password_hash)
    .execute(&mut *transaction)
    .await?;
    written_down(&mut transaction, &email, partner).await?;
    // The same steps in either case: what they take tells nothing.
    if person.rows_affected() == 0 {
        sqlx::query("rollback to savepoint before_partner").execute(&mut *transaction).await?;
    }
    announce(&mut transaction, Change::Catalog).await?;
    transaction.commit().await?;
    Ok(())
}

/// In the name of whoever signs up.
async fn written_down(conn: &mut PgConnection, email: &str, partner: i64) -> sqlx::Result<()> {
    let (slug, name, plan): (String, String, String) = sqlx::query_as(
        "select slug, partner.name, plan.name from partner join plan on plan.id = plan_id where partner.id = $1",
    )
    .bind(partner)
    .fetch_one(&mut *conn)
    .await?;
    let as_partner = json!({ "name": name, "plan": plan });
    changes::record(conn, By(email), What::Partner, &slug, None, Some(as_partner)).await?;
    let as_person = json!({ "role": "partner", "partner": slug });
    changes::record(conn, By(email), What::Person, email, None, Some(as_person)).await
}

/// Counts this sign-up among those of its address, which are kept as sign-ins without an account are.
async fn note(conn: &mut PgConnection, from: &str) -> Result<(), SignUpError> {
    let key = format!("sign-up {from}");
    sqlx::query("select pg_advisory_xact_lock(hashtextextended($1, 3))")
        .bind(&key)
        .execute(&mut *conn)
        .await?;
    let noted = sqlx::query(
        "insert into sign_up_attempt (address)
         select $1 where (
             select count(*) from sign_up_attempt where address = $1 and at > now() - interval '1 hour'
         ) < $2",
    )
    .bind(from)
    .bind(BY_ADDRESS)
    .execute(&mut *conn)
    .await?;
    sqlx::query("delete from sign_up_attempt where at < now() - interval '1 hour'")
        .execute(&mut *conn)
        .await?;
    if noted.rows_affected() == 1 {
        return Ok(());
    }
    let oldest = "select extract(epoch from min(at) + interval '1 hour' - now())::float8 from sign_up_attempt where address = $1";
    let seconds: Option<f64> = sqlx::query_scalar(oldest).bind(from).fetch_one(conn).await?;
    Err(SignUpError::TooMany { minutes: minutes(seconds.unwrap_or(0.0)) })
}

/// A partner with a full bucket. Its slug is made of its name; where that is taken, a few random letters make it another.
async fn partner(conn: &mut PgConnection, plan: i64, name: &str) -> sqlx::Result<i64> {
    let plain = slug(name);
    let another = format!("{}-{:06x}", &plain[..plain.len().min(56)], rand::rng().random_range(0..1 << 24));
    sqlx::query_scalar(
        "with made as (
             insert into partner (slug, name, plan_id)
             select case when exists (select from partner where slug = $1 and retired_at is null) then $2 else $1 end, $3, $4
             returning id, plan_id
         ),
         full_bucket as (
             insert into bucket (partner_id, tokens)
             select made.id, plan.capacity from made join plan on plan.id = made.plan_id
         )
         select id from made",
    )
    .bind(&plain)
    .bind(another)
    .bind(name)
    .bind(plan)
    .fetch_one(conn)
    .await
}

/// Lower-case letters and digits of the name, joined by "-"; 60 at most.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for letter in name.chars().flat_map(char::to_lowercase) {
        match letter {
            'a'..='z' | '0'..='9' => slug.push(letter),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(60);
    match slug.trim_end_matches('-') {
        "" => "partner".into(),
        slug => slug.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn a_slug_is_made_of_what_a_path_can_hold() {
        let slugs: Vec<_> = ["Acme GmbH", "  Übersee & Söhne!", "株式会社", "A"].map(slug).into();
        assert_eq!(slugs, ["acme-gmbh", "bersee-s-hne", "partner", "a"]);
        assert!(slug(&"x".repeat(100)).len() <= 60);
    }
}
