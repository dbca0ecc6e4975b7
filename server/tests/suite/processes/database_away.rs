//! The database goes away under load and comes back.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use axum::body::Body;
use axum::http::Response;
use rustix::process::{Pid, Signal, kill_process};
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool};
use toll::postgres::PrivatePostgres;

use super::{Machine, catalog, funnel};
use crate::portal::site;
use crate::support::client::{client, get};
use crate::support::database::TestDatabase;
use crate::support::load::Load;
use crate::support::origin::Origin;
use crate::support::toll::{Home, Serve, wait_until};

const CAPACITY: u32 = 1_000_000;
const CLIENTS: usize = 8;
const AWAY: Duration = Duration::from_secs(20);

async fn tokens(db: &PgPool) -> f64 {
    sqlx::query_scalar("select tokens from bucket").fetch_one(db).await.unwrap()
}

/// Waits until this node has found out that the database is back; returns how many answers were still metered locally.
async fn until_metered_again(url: &str, key: &str) -> usize {
    let client = client();
    for asked in 0..2_000 {
        let reply = get(&client, url, key).await;
        assert_eq!(reply.status, 200);
        if reply.header("x-toll-metered").is_empty() {
            return asked;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("still metered locally long after the database was back");
}

/// Lines of the log that hold this text.
fn lines<'l>(log: &'l str, text: &str) -> Vec<&'l str> {
    log.lines().filter(|line| line.contains(text)).collect()
}

fn with_pages(machine: &Machine, site: &Path) -> Serve {
    let mut command = machine.command(&["serve"]);
    command.env("TOLL_SITE_DIR", site);
    Serve::start(command)
}

/// Asks for a page until it has this status.
fn until_page_is(toll: &Serve, status: &str) {
    wait_until(status, || toll.get("/").starts_with(&format!("HTTP/1.1 {status}")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_is_a_line_when_it_begins_and_a_line_with_a_count_when_it_is_over() {
    let server = Home::new();
    let postgres = PrivatePostgres::start(&server.data()).await.unwrap();
    let (origin, site) = (Origin::ok().await, site());
    let machine = Machine::on(postgres.url());
    machine.apply(&catalog(&origin, "", CAPACITY, 0.0));
    let (_, unmet) = machine.create_key("acme");
    let mut toll = with_pages(&machine, site.path());
    until_page_is(&toll, "200");
    // The last thing that the start asks the database for.
    let mut db = PgConnection::connect(postgres.url()).await.unwrap();
    let invited = "select exists (select from invitation)";
    while !sqlx::query_scalar::<_, bool>(invited).fetch_one(&mut db).await.unwrap() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let before = toll.log();
    assert!(!before.contains("database"), "{before}");

    postgres.stop().await;
    until_page_is(&toll, "503");
    let refused = get(&client(), &format!("{}/api/orders", toll.url), &unmet).await;
    assert_eq!((refused.status, refused.outcome()), (503, "key_unverifiable"));
    for _ in 0..10 {
        assert!(toll.get("/ops").starts_with("HTTP/1.1 503"));
    }
    let postgres = PrivatePostgres::start(&server.data()).await.unwrap();
    until_page_is(&toll, "200");
    assert_eq!(toll.stop(), Some(0));
    postgres.stop().await;
    let log = toll.log();
    assert_eq!(lines(&log, "the database is away").len(), 1, "{log}");
    let [back] = lines(&log, "the database is back")[..] else { panic!("{log}") };
    let back: serde_json::Value = serde_json::from_str(back).unwrap();
    assert!(back["refused"].as_u64().is_some_and(|refused| refused >= 12), "{back}");
    assert!(back["away_s"].is_u64(), "{back}");
    let others = log.lines().filter(|line| line.contains("WARN") || line.contains("ERROR"));
    assert_eq!(others.count(), 1, "{log}");
}

/// Changes how the database takes new sessions, and ends all others.
async fn turn(admin: &mut PgConnection, to: &str) {
    let name: String = sqlx::query_scalar("select current_database()").fetch_one(&mut *admin).await.unwrap();
    let alter = format!("alter database {name} {to}");
    sqlx::query(AssertSqlSafe(alter)).execute(&mut *admin).await.unwrap();
    let others = "select pg_terminate_backend(pid) from pg_stat_activity
                  where datname = current_database() and pid <> pg_backend_pid()";
    sqlx::query(others).execute(admin).await.unwrap();
}

/// As a replica, or a primary that has become one.
#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_only_reads_is_away_until_it_takes_something_in() {
    let (db, origin, site) = (TestDatabase::new().await, Origin::ok().await, site());
    let machine = Machine::on(&db.url);
    machine.apply(&catalog(&origin, "", CAPACITY, 0.0));
    let (_, key) = machine.create_key("acme");
    let mut toll = with_pages(&machine, site.path());
    let url = format!("{}/api/orders", toll.url);
    assert_eq!(get(&client(), &url, &key).await.header("x-toll-metered"), "");

    let mut admin = PgConnection::connect(&db.url).await.unwrap();
    turn(&mut admin, "set default_transaction_read_only = on").await;
    until_page_is(&toll, "503");
    for _ in 0..50 {
        let reply = get(&client(), &url, &key).await;
        assert_eq!((reply.status, reply.header("x-toll-metered")), (200, "local"));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    turn(&mut admin, "reset default_transaction_read_only").await;
    until_metered_again(&url, &key).await;
    assert_eq!(toll.stop(), Some(0));
    let log = toll.log();
    let told = ["is away", "is back"].map(|text| lines(&log, &format!("the database {text}")).len());
    // The second turn closes connections too, and so may be told once more.
    assert!(told[0] <= 2 && told[0] == told[1], "{log}");
    machine.run(&["audit"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_only_reads_is_waited_for_at_the_start() {
    let db = TestDatabase::new().await;
    let machine = Machine::on(&db.url);
    let mut admin = PgConnection::connect(&db.url).await.unwrap();
    turn(&mut admin, "set default_transaction_read_only = on").await;
    let mut command = machine.command(&["serve"]);
    let mut toll = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut log = BufReader::new(toll.stderr.take().unwrap()).lines();
    let said = log.next().unwrap().unwrap();
    assert!(said.contains("only reads") && said.contains("DATABASE_URL"), "{said}");
    turn(&mut admin, "reset default_transaction_read_only").await;
    let serves = BufReader::new(toll.stdout.take().unwrap()).lines().next().unwrap().unwrap();
    assert!(serves.starts_with("Toll serves"), "{serves}");
    kill_process(Pid::from_child(&toll), Signal::TERM).unwrap();
    let rest: Vec<_> = log.map_while(Result::ok).filter(|line| line.contains("only reads")).collect();
    assert_eq!(rest, [""; 0], "it is said once");
    assert!(toll.wait().unwrap().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn known_keys_are_served_without_the_database_and_settled_when_it_is_back() {
    // A server of the test's own, that can be stopped without harm to others.
    let server = Home::new();
    let postgres = PrivatePostgres::start(&server.data()).await.unwrap();
    let database_url = postgres.url().to_owned();
    let origin = Origin::start(|_| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Response::new(Body::from("ok"))
    })
    .await;
    let machine = Machine::on(&database_url);
    machine.apply(&catalog(&origin, "", CAPACITY, 0.0));
    let (_, key) = machine.create_key("acme");
    let (_, quiet) = machine.create_key("acme");
    let (_, unmet) = machine.create_key("acme");
    let mut toll = machine.serve();
    let url = format!("{}/api/orders/1", toll.url);

    let load = Load::start(CLIENTS, &url, &key);
    load.until_answered(500).await;
    assert_eq!(get(&client(), &url, &quiet).await.status, 200);
    // All keys are to be asked for again, and the quiet one is not until nobody is there to ask.
    machine.apply(&(catalog(&origin, "", CAPACITY, 0.0) + "name = \"Acme GmbH\""));
    tokio::time::sleep(Duration::from_secs(1)).await;
    postgres.stop().await;
    let before = load.answered();
    tokio::time::sleep(AWAY).await;
    let known = get(&client(), &url, &quiet).await;
    assert_eq!((known.status, known.header("x-toll-metered")), (200, "local"));
    let stranger = get(&client(), &url, &unmet).await;
    assert_eq!((stranger.status, stranger.outcome()), (503, "key_unverifiable"));
    assert!(load.answered() > before + 500, "{} answers while it was away", load.answered() - before);
    let postgres = PrivatePostgres::start(&server.data()).await.unwrap();
    assert_eq!(postgres.url(), database_url);
    let asked_locally = until_metered_again(&url, &key).await;
    let at_return = load.answered();
    load.until_answered(at_return + 500).await;
    let replies = load.stop().await;

    let others = replies.iter().filter(|reply| (reply.status, reply.outcome()) != (200, "forwarded"));
    assert_eq!(others.map(|reply| reply.outcome().to_owned()).collect::<Vec<_>>(), [""; 0]);
    let marked = replies.iter().filter(|reply| reply.header("x-toll-metered") == "local").count();
    assert!(marked > 500, "{marked} marked as metered locally");
    assert!(marked <= replies.len() - 500);
    assert_eq!(toll.stop(), Some(0));

    let db = PgPool::connect(&database_url).await.unwrap();
    let books = funnel(&db).await;
    assert_eq!((books.in_flight, books.unaccounted), (Some(0), Some(0)));
    // The quiet key's two, the stranger's, and those that waited for the return.
    assert_eq!(books.arrived as usize, replies.len() + 3 + asked_locally + 1);
    assert_eq!(books.upstream_calls, origin.count());
    assert_eq!(books.metered_locally as usize, marked + 1 + asked_locally);
    // Nothing is granted for nothing. What a statement had spent when its answer was lost is spent twice: one a client at most.
    let granted = books.arrived as f64 - 1.0;
    let charged = f64::from(CAPACITY) - tokens(&db).await;
    assert!(
        (granted..=granted + CLIENTS as f64 + 1.0).contains(&charged),
        "{charged} charged, {granted} granted"
    );
    machine.run(&["audit"]);
    db.close().await;
    postgres.stop().await;
}
