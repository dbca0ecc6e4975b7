//! `toll demo` against the running program: its requests are real, and so are the books of its past.

use std::process::Output;
use std::time::Duration;

use app::domain::funnel::Funnel;
use app::domain::stage::Stage;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::toll::{Home, Serve, wait_until};

fn demo(home: &Home, serve: &Serve, arguments: &[&str]) -> std::process::Command {
    let mut command = home.command(&["demo"]);
    command.args(arguments).env("TOLL_LISTEN", serve.url.strip_prefix("http://").unwrap());
    command
}

fn text(output: &Output) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    out.into_owned()
}

fn funnel(home: &Home, last: &str) -> Funnel {
    serde_json::from_str(&text(&home.run(&["funnel", "--json", "--last", last]))).unwrap()
}

#[test]
fn a_few_seconds_of_it_show_every_stage_at_work_and_the_books_agree() {
    let home = Home::new();
    let serve = home.serve();
    let told = text(&demo(&home, &serve, &["--minutes", "0.15"]).output().unwrap());
    assert!(told.contains("0:05  sent ") && told.contains("= reached upstream"), "{told}");

    let seen = funnel(&home, "15m");
    assert_eq!((seen.unaccounted, seen.in_flight), (Some(0), Some(0)));
    // About 8 a second, and what bursts at the beginning; or fewer on a machine that cannot.
    assert!((60..900).contains(&seen.arrived), "{}", seen.arrived);
    for stage in Stage::ALL {
        assert!(seen.stage(stage).stopped > 0, "{} stopped nothing: {told}", stage.name());
    }
    for (stage, outcome) in [
        (Stage::Key, "key_revoked"),
        (Stage::Key, "key_expired"),
        (Stage::Key, "key_not_allowed"),
        (Stage::Quota, "quota_early_retry"),
        (Stage::Breaker, "breaker_open"),
    ] {
        assert!(seen.stage(stage).outcomes.contains_key(outcome), "no {outcome}: {told}");
    }
    text(&home.run(&["audit", "--last", "15m"]));
}

#[test]
fn a_past_is_written_once_where_nothing_has_happened_and_the_books_still_agree() {
    let home = Home::new();
    let serve = home.serve();
    let short = ["--minutes", "0.02", "--backfill", "24h"];
    let told = text(&demo(&home, &serve, &short).output().unwrap());
    let (written, _) = told.split_once(" requests of the past").unwrap();
    let written: u64 = written.replace(',', "").parse().unwrap();
    assert!(written > 100_000, "{told}");
    let whole = funnel(&home, "7d");
    assert_eq!(whole.unaccounted, Some(0));
    assert!(whole.arrived >= written);
    text(&home.run(&["audit", "--last", "7d"]));

    // Again: the keys of the first are replaced within the plan's limit, and the past stays as it was. Minutes that have
    // gone by since have arrivals of their own, but perhaps for one between the two.
    let told = text(&demo(&home, &serve, &short).output().unwrap());
    let (written, _) = told.split_once(" requests of the past").unwrap();
    assert!(written.replace(',', "").parse::<u64>().unwrap() < 1_000, "{told}");
    text(&home.run(&["audit", "--last", "7d"]));
}

#[test]
fn an_interrupt_ends_it_with_the_funnel() {
    let home = Home::new();
    let serve = home.serve();
    let mut command = demo(&home, &serve, &[]);
    let child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    wait_until("the demo sends", || {
        std::thread::sleep(Duration::from_millis(200));
        funnel(&home, "15m").arrived > 20
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let told = text(&child.wait_with_output().unwrap());
    assert!(told.contains("= reached upstream"), "{told}");
}

#[test]
fn without_a_running_serve_it_says_so_in_one_line_and_starts_nothing() {
    let home = Home::empty();
    let mut command = home.command(&["demo"]);
    // A port of the system that nobody listens on here.
    let output = command.env("TOLL_LISTEN", "127.0.0.1:1").output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(told.starts_with("toll: no toll serve answers on http://127.0.0.1:1: start it"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert!(!home.data().exists());
}

#[test]
fn a_catalog_with_an_acme_of_its_own_is_left_alone() {
    let home = Home::new();
    let serve = home.serve();
    let file = home.dir.path().join("catalog.toml");
    let theirs = "[[plan]]\nname = \"gold\"\ncapacity = 1\nrefill_per_second = 1.0\n\
                  [[partner]]\nslug = \"acme\"\nname = \"The real one\"\nplan = \"gold\"\n";
    std::fs::write(&file, theirs).unwrap();
    text(&home.run(&["apply", "catalog.toml"]));
    let before = text(&home.run(&["export"]));
    let output = demo(&home, &serve, &["--minutes", "0.02"]).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("the catalog has its own partner \"acme\""), "{told}");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&home.run(&["export"])), before);
}
