//! A node that has run out of files.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

use super::Machine;
use crate::support::catalog::orders;
use crate::support::database::TestDatabase;
use crate::support::origin::Origin;
use crate::support::toll::{Serve, wait_until};

/// The same command with so many files.
fn with_files(files: u32, command: &Command) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -n {files}; exec \"$@\""), "sh"]);
    shell.arg(command.get_program()).args(command.get_args()).env_clear();
    shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.current_dir(command.get_current_dir().unwrap());
    shell
}

/// The head of the answer on a connection that stays open, in lower case.
fn ask(client: &mut TcpStream, path: &str) -> String {
    write!(client, "GET {path} HTTP/1.1\r\nHost: toll\r\n\r\n").unwrap();
    let mut answer = vec![0; 16 << 10];
    let length = client.read(&mut answer).unwrap();
    String::from_utf8_lossy(&answer[..length]).to_lowercase()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_a_file_left_accuses_no_upstream_and_serves_when_it_has_some_again() {
    let (db, origin) = (TestDatabase::new().await, Origin::with(&[("connection", "close")], "ok").await);
    let machine = Machine::on(&db.url);
    let breaker = "breaker = { failures = 1 }";
    machine.apply(
        &orders(&origin.url(), breaker, 1, 0.0).replace("[[route]]", "[[route]]\naccess = \"public\""),
    );
    let mut toll = Serve::start(with_files(64, &machine.command(&["serve"])));
    let address = toll.url.strip_prefix("http://").unwrap().to_owned();
    let mut client = TcpStream::connect(&address).unwrap();
    assert!(ask(&mut client, "/api/orders").contains("x-toll-outcome: forwarded"));

    let crowd: Vec<_> = (0..100).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let mut asked = 1;
    let mut until = |outcome: &str| {
        wait_until(outcome, || {
            asked += 1;
            let answer = ask(&mut client, "/api/orders");
            let told =
                ["forwarded", "internal"].map(|one| answer.contains(&format!("x-toll-outcome: {one}")));
            assert!(told.contains(&true), "{answer}");
            answer.contains(&format!("x-toll-outcome: {outcome}"))
        });
    };
    until("internal");
    drop(crowd);
    until("forwarded");
    assert_eq!(toll.stop(), Some(0));

    let log = toll.log();
    for told in ["few files may be open", "no connection can be opened here"] {
        assert!(log.contains(told), "{told} is not in {log}");
    }
    let failures: i64 =
        sqlx::query_scalar("select count(*) from breaker_event").fetch_one(&db.pool).await.unwrap();
    assert_eq!(failures, 0, "the upstream did nothing wrong");
    machine.run(&["audit"]);
    let arrived: i64 =
        sqlx::query_scalar("select count(*) from request_log").fetch_one(&db.pool).await.unwrap();
    assert_eq!(arrived, asked);
}
