//! The end of the real program: by one signal in good order, by a second at once, and nothing of it is left behind.

use std::net::TcpStream;
use std::time::Duration;

use axum::response::Response;
use rustix::process::{Signal, kill_process};

use crate::support::catalog::orders;
use crate::support::origin::Origin;
use crate::support::raw::request;
use crate::support::toll::{Home, Serve, is_running, wait_until};

/// Whether anything runs that was started for this folder.
fn is_used(home: &Home) -> bool {
    let dir = home.dir.path().to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let name = entry.ok()?.file_name().to_str()?.parse::<u32>().ok()?;
        std::fs::read_to_string(format!("/proc/{name}/cmdline")).ok()
    });
    processes.into_iter().any(|arguments| arguments.contains(dir))
}

/// Until the log has said this.
fn until_said(toll: &Serve, text: &str) {
    let mut log = String::new();
    wait_until(text, || {
        log += &toll.log();
        log.contains(text)
    });
}

/// A request that Toll would wait for.
async fn hold(home: &Home, toll: &Serve) -> (Origin, TcpStream) {
    let origin = Origin::start(|_| async {
        std::future::pending::<()>().await;
        Response::default()
    })
    .await;
    let file = home.dir.path().join("catalog.toml");
    let public = "[[route]]\nname = \"held\"\npath = \"/held\"\nupstream = \"orders\"\naccess = \"public\"\n";
    std::fs::write(&file, orders(&origin.url(), "timeout = \"10m\"", 1, 0.0) + public).unwrap();
    assert!(home.run(&["apply", file.to_str().unwrap()]).status.success());
    let mut client = TcpStream::connect(toll.url.strip_prefix("http://").unwrap()).unwrap();
    let mut asked = || {
        std::io::Write::write_all(&mut client, request("GET", "/api/held", &[]).as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        origin.count() > 0
    };
    // Until the route is in force.
    wait_until("the request is held", &mut asked);
    (origin, client)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_signal_waits_for_nothing_and_takes_the_private_server_along() {
    let home = Home::new();
    let mut toll = home.serve();
    let postgres = home.postmaster().unwrap();
    let _held = hold(&home, &toll).await;
    toll.signal(Signal::INT);
    until_said(&toll, "finishing what is in flight");
    assert!(is_running(postgres), "what is in flight is still to be written down");
    toll.signal(Signal::INT);
    assert_eq!(toll.wait().code(), Some(130));
    assert!(!is_running(postgres) && !is_used(&home));
    assert_eq!(home.postmaster(), None);

    assert_eq!(home.serve().stop(), Some(0));
    let audit = home.run(&["audit"]);
    assert!(audit.status.success(), "{}", String::from_utf8_lossy(&audit.stdout));
}

#[tokio::test]
async fn a_second_signal_ends_a_server_that_does_not_heed_the_first() {
    let home = Home::new();
    let mut toll = home.serve();
    let postgres = home.postmaster().unwrap();
    kill_process(postgres, Signal::STOP).unwrap();
    toll.signal(Signal::TERM);
    until_said(&toll, "finishing what is in flight");
    toll.signal(Signal::TERM);
    assert_eq!(toll.wait().code(), Some(130));
    wait_until("all of it has ended", || !is_used(&home));
    assert_eq!(home.serve().stop(), Some(0));
}

#[tokio::test]
async fn a_signal_while_the_private_server_is_made_leaves_nothing_running() {
    let home = Home::empty();
    let mut toll = home.command(&["serve"]).spawn().unwrap();
    wait_until("initdb is at work", || home.data().join("postgres.new/PG_VERSION").exists());
    kill_process(rustix::process::Pid::from_child(&toll), Signal::INT).unwrap();
    assert_eq!(toll.wait().unwrap().code(), Some(0));
    wait_until("all of it has ended", || !is_used(&home));
    assert_eq!(home.serve().stop(), Some(0));
}
