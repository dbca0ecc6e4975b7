//! The private PostgreSQL under the real program.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rustix::process::{Signal, kill_process};

use crate::support::toll::{Home, Serve, is_running, listening_ports, wait_until};

async fn note(home: &Home, text: &str) {
    let mut db = home.connect().await;
    sqlx::query("create table if not exists note (text text)").execute(&mut db).await.unwrap();
    sqlx::query("insert into note (text) values ($1)").bind(text).execute(&mut db).await.unwrap();
}

async fn notes(home: &Home) -> Vec<String> {
    let mut db = home.connect().await;
    sqlx::query_scalar("select text from note").fetch_all(&mut db).await.unwrap()
}

#[tokio::test]
async fn it_starts_and_stops_with_toll_and_keeps_its_data() {
    let home = Home::empty();
    let mut toll = home.serve();
    let postgres = home.postmaster().unwrap();
    assert!(is_running(postgres));
    let healthz = toll.get("/healthz");
    assert!(healthz.starts_with("HTTP/1.1 200") && healthz.ends_with("ok\n"), "{healthz}");
    note(&home, "first").await;
    assert_eq!(toll.stop(), Some(0));
    assert!(!is_running(postgres));
    assert_eq!(home.postmaster(), None);

    let mut toll = home.serve();
    assert_ne!(home.postmaster(), Some(postgres));
    assert_eq!(notes(&home).await, ["first"]);
    assert_eq!(toll.stop(), Some(0));
    let log = toll.log();
    assert!(!log.contains("database is away") && !log.contains("ERROR"), "{log}");
}

#[tokio::test]
async fn it_listens_on_no_port_and_its_socket_is_in_a_folder_of_its_own() {
    let home = Home::new();
    let toll = home.serve();
    assert!(listening_ports(home.postmaster().unwrap()).is_empty());
    assert_eq!(listening_ports(toll.pid()).len(), 1, "the same look at toll itself finds its listener");
    let mode = std::fs::metadata(home.base().join("socket")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    let data = std::fs::metadata(home.base().join("postgres")).unwrap().permissions().mode();
    assert_eq!(data & 0o777, 0o700);
}

#[tokio::test]
async fn it_is_started_again_when_it_dies() {
    let home = Home::new();
    let mut toll = home.serve();
    note(&home, "before").await;
    for signal in [Signal::KILL, Signal::TERM] {
        let postgres = home.postmaster().unwrap();
        kill_process(postgres, signal).unwrap();
        wait_until("another server runs", || {
            home.postmaster().is_some_and(|pid| pid != postgres && is_running(pid))
        });
        assert_eq!(notes(&home).await, ["before"]);
    }
    assert!(toll.log().contains("started again"));
    assert_eq!(toll.stop(), Some(0));
    assert_eq!(home.postmaster(), None);
}

#[test]
fn whatever_asks_toll_to_end_its_server_ends_with_it() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let home = Home::new();
        let mut toll = home.serve();
        toll.signal(signal);
        assert_eq!(toll.wait().code(), Some(0), "{signal:?}");
        assert_eq!(home.postmaster(), None, "{signal:?}");
    }
}

#[tokio::test]
async fn after_a_kill_of_toll_the_next_start_takes_the_server_over() {
    let home = Home::new();
    let toll = home.serve();
    note(&home, "before").await;
    let postgres = home.postmaster().unwrap();
    toll.kill();
    assert!(is_running(postgres));

    let mut toll = home.serve();
    assert_eq!(home.postmaster(), Some(postgres));
    assert_eq!(notes(&home).await, ["before"]);
    // It is looked after like one of our own.
    kill_process(postgres, Signal::KILL).unwrap();
    wait_until("another server runs", || {
        home.postmaster().is_some_and(|pid| pid != postgres && is_running(pid))
    });
    assert_eq!(notes(&home).await, ["before"]);
    assert_eq!(toll.stop(), Some(0));
    assert_eq!(home.postmaster(), None);
}

#[tokio::test]
async fn after_a_kill_of_both_the_next_start_recovers() {
    let home = Home::new();
    let toll = home.serve();
    note(&home, "before").await;
    let postgres = home.postmaster().unwrap();
    toll.kill();
    kill_process(postgres, Signal::KILL).unwrap();
    wait_until("the server has ended", || !is_running(postgres));
    // The number of the dead server has become that of a process that lives on: this one.
    let lock = home.base().join("postgres/postmaster.pid");
    let stale = std::fs::read_to_string(&lock).unwrap();
    let rest = stale.split_once('\n').unwrap().1;
    std::fs::write(&lock, format!("{}\n{rest}", std::process::id())).unwrap();

    let mut toll = home.serve();
    assert_eq!(notes(&home).await, ["before"]);
    assert_eq!(toll.stop(), Some(0));
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_stopped_and_replaced() {
    let home = Home::new();
    let toll = home.serve();
    note(&home, "before").await;
    let postgres = home.postmaster().unwrap();
    toll.kill();
    // Its socket is gone: it runs, and cannot be reached.
    std::fs::remove_file(home.base().join("socket/.s.PGSQL.5432")).unwrap();

    let mut toll = home.serve();
    assert!(!is_running(postgres));
    assert_eq!(notes(&home).await, ["before"]);
    assert_eq!(toll.stop(), Some(0));
}

#[tokio::test]
async fn a_second_serve_of_a_folder_is_told_who_holds_it() {
    let home = Home::new();
    let mut toll = home.serve();
    let second = home.run(&["serve"]);
    assert_eq!(second.status.code(), Some(1));
    let error = String::from_utf8(second.stderr).unwrap();
    let holder = format!("in use by toll serve, process {}", toll.pid().as_raw_nonzero());
    assert!(error.contains(&holder) && error.lines().count() == 1, "{error}");
    assert!(error.contains(home.data().to_str().unwrap()), "{error}");
    assert_eq!(toll.stop(), Some(0));
}

#[tokio::test]
async fn a_command_uses_the_server_that_runs_and_leaves_it_running() {
    let home = Home::new();
    let mut toll = home.serve();
    let postgres = home.postmaster();
    let migrate = home.run(&["migrate"]);
    assert_eq!(migrate.status.code(), Some(0), "{}", String::from_utf8_lossy(&migrate.stderr));
    assert_eq!(home.postmaster(), postgres);
    assert!(is_running(postgres.unwrap()));
    assert_eq!(toll.stop(), Some(0));
}

#[tokio::test]
async fn commands_start_the_server_for_themselves_and_the_last_one_stops_it() {
    let home = Home::empty();
    let commands: Vec<_> = (0..4).map(|_| home.command(&["migrate"]).spawn().unwrap()).collect();
    for mut command in commands {
        assert_eq!(command.wait().unwrap().code(), Some(0));
    }
    assert_eq!(home.postmaster(), None);
    assert!(home.base().join("postgres/PG_VERSION").exists());
}

#[tokio::test]
async fn a_folder_that_the_servers_user_cannot_reach_gets_a_cluster_elsewhere() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("only root runs the server as another user");
        return;
    }
    let home = Home::empty();
    std::fs::set_permissions(home.dir.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut toll = home.serve();
    assert!(home.base().starts_with("/var/lib/toll"), "{}", home.base().display());
    assert!(toll.log().contains("/var/lib/toll"));
    note(&home, "there").await;
    assert_eq!(toll.stop(), Some(0));
    let mut toll = home.serve();
    assert_eq!(notes(&home).await, ["there"]);
    assert!(!toll.log().contains("cannot reach"), "it is said once");
    assert_eq!(toll.stop(), Some(0));
}

#[tokio::test]
async fn a_deep_folder_gets_a_socket_with_a_short_path() {
    let home = Home::empty();
    let deep = home.dir.path().join("x".repeat(60)).join("y y".repeat(20));
    let mut command = home.command(&["migrate"]);
    let output = command.env("TOLL_DATA_DIR", &deep).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(deep.join("postgres/PG_VERSION").exists());
    // With a server that runs, to see where its socket is.
    let mut command = home.command(&["serve"]);
    command.env("TOLL_DATA_DIR", &deep);
    let mut toll = Serve::start(command);
    let text = std::fs::read_to_string(deep.join("postgres/postmaster.pid")).unwrap();
    let socket = PathBuf::from(text.lines().nth(4).unwrap());
    assert!(!socket.starts_with(&deep) && socket.join(".s.PGSQL.5432").exists(), "{}", socket.display());
    assert_eq!(toll.stop(), Some(0));
    assert!(!socket.exists());
}
