//! Commands against a PostgreSQL that takes connections and never answers: they give up, and end with a signal at once.

use std::io::Read;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use sqlx::Connection;
use toll::postgres::PrivatePostgres;

use crate::support::toll::{Home, Serve, wait_until};

/// Every command that needs a database, but for the demo, which needs a gateway that answers first.
const COMMANDS: [&[&str]; 10] = [
    &["apply", "-", "--dry-run"],
    &["audit"],
    &["export"],
    &["funnel"],
    &["keys", "create", "--partner", "acme", "--name", "ci"],
    &["keys", "list"],
    &["migrate"],
    &["purge", "list"],
    &["users", "invite", "--email", "ada@example.com", "--role", "ops"],
    &["users", "remove", "--email", "ada@example.com"],
];

/// Goes on when this is dropped, so that it can be ended in good order.
struct Stopped(Pid);

impl Stopped {
    fn new(pid: Pid) -> Stopped {
        kill_process(pid, Signal::STOP).unwrap();
        Stopped(pid)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let _ended = kill_process(self.0, Signal::CONT);
    }
}

fn start(mut command: Command) -> Child {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Exit code and what came on standard error.
fn end(mut child: Child) -> (Option<i32>, String) {
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    (child.wait().unwrap().code(), error)
}

/// Whether the handler that is installed last is there, and who installs them waits.
fn hears_signals(pid: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero())).unwrap();
    let field = |name| status.lines().find_map(|line| line.strip_prefix(name)).unwrap().trim();
    let caught = u64::from_str_radix(field("SigCgt:"), 16).unwrap();
    caught & (1 << (Signal::TERM.as_raw() - 1)) != 0 && field("State:").starts_with('S')
}

/// A private server that `toll serve` holds, and one that `DATABASE_URL` names; both hang.
struct Hanging {
    _stopped: [Stopped; 2],
    _serve: Serve,
    serving: Home,
    url: String,
    _postgres: PrivatePostgres,
    elsewhere: Home,
}

impl Hanging {
    async fn new() -> Hanging {
        let (serving, elsewhere) = (Home::new(), Home::new());
        let serve = serving.serve();
        let postgres = PrivatePostgres::start(&elsewhere.data()).await.unwrap();
        let stopped = [&serving, &elsewhere].map(|home| Stopped::new(home.postmaster().unwrap()));
        let url = postgres.url().to_owned();
        Hanging { _stopped: stopped, _serve: serve, serving, url, _postgres: postgres, elsewhere }
    }

    /// A command for each way to come to a database, with what its message must name.
    fn commands(&self, arguments: &[&str]) -> [(Command, &'static str); 2] {
        let mut elsewhere = self.elsewhere.command(arguments);
        elsewhere.env("DATABASE_URL", &self.url);
        [
            (self.serving.command(arguments), "and restart toll serve, process"),
            (elsewhere, "correct DATABASE_URL"),
        ]
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_gives_up_on_a_database_that_hangs_and_says_so_in_one_line() {
    let hanging = Hanging::new().await;
    let started: Vec<_> = COMMANDS
        .iter()
        .flat_map(|arguments| {
            hanging.commands(arguments).map(|(command, told)| (*arguments, start(command), told))
        })
        .collect();
    for (arguments, child, told) in started {
        let (code, error) = end(child);
        assert_eq!((code, error.lines().count()), (Some(1), 1), "toll {arguments:?}: {error}");
        assert!(
            error.contains("does not answer within 5 s") && error.contains(told),
            "{arguments:?}: {error}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_every_command_that_waits_for_a_database_that_hangs() {
    let hanging = Hanging::new().await;
    for arguments in COMMANDS {
        for (command, _) in hanging.commands(arguments) {
            for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
                let mut again = Command::new(command.get_program());
                again.args(command.get_args()).current_dir(command.get_current_dir().unwrap()).env_clear();
                again.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
                let child = start(again);
                let pid = Pid::from_child(&child);
                wait_until("signals are heard", || hears_signals(pid));
                kill_process(pid, signal).unwrap();
                // Not 1: it did not come to the end of its patience.
                assert_eq!(end(child), (Some(code), String::new()), "toll {arguments:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_begins_to_hang_while_a_statement_waits_is_noticed() {
    for signal in [None, Some(Signal::INT)] {
        let home = Home::new();
        let serve = home.serve();
        let mut holder = home.connect().await;
        let postgres = home.postmaster().unwrap();
        // Whoever reads waits for this.
        let mut locked = holder.begin().await.unwrap();
        sqlx::query("lock table partner in access exclusive mode").execute(&mut *locked).await.unwrap();
        let child = start(home.command(&["keys", "list", "--partner", "acme"]));
        let mut watching = home.connect().await;
        let waits = "select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%from partner%')";
        while !sqlx::query_scalar::<_, bool>(waits).fetch_one(&mut watching).await.unwrap() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        let stopped = Stopped::new(postgres);
        if let Some(signal) = signal {
            kill_process(Pid::from_child(&child), signal).unwrap();
        }
        let (code, error) = end(child);
        drop((stopped, serve));
        match signal {
            Some(_) => assert_eq!((code, error.as_str()), (Some(130), "")),
            None => assert!(code == Some(1) && error.contains("does not answer within 5 s"), "{error}"),
        }
    }
}

#[test]
fn a_signal_ends_a_command_that_waits_for_its_input() {
    let home = Home::new();
    let mut command = home.command(&["apply", "-"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = Pid::from_child(&child);
    // It sleeps in `read`, on standard input.
    wait_until("standard input is read", || {
        let call = std::fs::read_to_string(format!("/proc/{}/syscall", pid.as_raw_nonzero())).unwrap();
        call.starts_with("0 0x0 ")
    });
    kill_process(pid, Signal::INT).unwrap();
    assert!(!child.wait().unwrap().success());
    assert_eq!(home.postmaster(), None);
}
