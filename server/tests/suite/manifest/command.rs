//! `toll apply`, `toll export` and `toll keys` as they are typed: exit codes, and what stands on which output.

use std::io::Write;
use std::process::{Output, Stdio};

use app::domain::key_text::is_well_formed;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::support::catalog::SAMPLE;
use crate::support::database::TestDatabase;
use crate::support::toll::Home;

struct Shell {
    home: Home,
    db: TestDatabase,
}

impl Shell {
    async fn new() -> Shell {
        Shell { home: Home::new(), db: TestDatabase::new().await }
    }

    fn file(&self, text: &str) {
        std::fs::write(self.home.dir.path().join("catalog.toml"), text).unwrap();
    }

    fn run(&self, line: &str) -> (i32, String, String) {
        self.run_with(line, "")
    }

    fn run_with(&self, line: &str, input: &str) -> (i32, String, String) {
        let words: Vec<_> = line.split(' ').collect();
        let mut command = self.home.command(&words);
        command.env("DATABASE_URL", &self.db.url);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
    }
}

#[tokio::test]
async fn a_catalog_goes_in_by_apply_and_comes_out_by_export() {
    let shell = Shell::new().await;
    shell.file(SAMPLE);
    let (code, told, _) = shell.run("apply catalog.toml --dry-run");
    assert_eq!(code, 0);
    assert!(
        told.ends_with("dry run, nothing was changed; it would be: 10 created, 0 changed, 0 retired\n"),
        "{told}"
    );
    let (code, told, _) = shell.run("apply catalog.toml");
    assert_eq!(code, 0);
    assert!(told.contains("+ route status\n    path = \"/status\"\n"), "{told}");
    assert!(told.ends_with("10 created, 0 changed, 0 retired\n"), "{told}");
    assert_eq!(shell.run("apply catalog.toml"), (0, "nothing to change\n".to_owned(), String::new()));
    let (code, exported, _) = shell.run("export");
    assert_eq!(code, 0);
    let again = shell.run_with("apply - --prune", &exported);
    assert_eq!(again, (0, "nothing to change\n".to_owned(), String::new()));
    let (code, told, _) = shell.run_with("apply - --json --prune", "");
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (code, &told["applied"], told["changes"].as_array().unwrap().len()),
        (0, &Value::Bool(true), 10)
    );
    assert_eq!(shell.run("export"), (0, String::new(), String::new()));
}

#[tokio::test]
async fn what_is_wrong_with_a_file_stands_on_standard_error_a_line_each() {
    let shell = Shell::new().await;
    shell.file("[[plan]]\nname = \"p\"\ncapacity = -1\nrefill_per_second = 1\nburst = 2\n");
    let (code, out, err) = shell.run("apply catalog.toml --prune");
    assert_eq!((code, out.as_str()), (1, ""));
    assert_eq!(
        err,
        "catalog.toml:3: capacity: is -1; write a whole number from 0 to 2147483647\n\
         catalog.toml:5: unknown key \"burst\"; a plan takes name, capacity, refill_per_second, max_keys, routes, sign_up\n"
    );
    std::fs::write(shell.home.dir.path().join("catalog.toml"), b"# \xc3\xa9\n# \xe9\n").unwrap();
    let told = "catalog.toml:2: is not UTF-8; save the file as UTF-8\n";
    assert_eq!(shell.run("apply catalog.toml"), (1, String::new(), told.to_owned()));
    let (code, _, err) = shell.run("apply nowhere.toml");
    assert_eq!(code, 1);
    assert!(err.contains("nowhere.toml cannot be read") && err.lines().count() == 1, "{err}");
    let (code, _, err) = shell.run("apply");
    assert_eq!((code, err.lines().count()), (2, 1), "{err}");
}

#[tokio::test]
async fn a_key_is_printed_once_and_its_life_is_told_by_commands() {
    let shell = Shell::new().await;
    shell.file(SAMPLE);
    shell.run("apply catalog.toml");
    let (code, key, note) = shell.run("keys create --partner acme --name ci");
    assert!(code == 0 && is_well_formed(key.trim_end()), "{key}");
    assert!(note.contains("of acme, good until it is revoked") && !note.contains(key.trim_end()), "{note}");

    let (code, told, note) = shell.run("keys create --partner acme --name nightly --expires 30d --json");
    let made: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((code, note.as_str(), &made["partner"]), (0, "", &Value::from("acme")));
    let text = made["key"].as_str().unwrap();
    assert_eq!(made["start"], text[..10]);
    let kept: bool = sqlx::query_scalar(
        "select hash = $1 and expires_at - created_at = interval '30 days'
                and to_char(expires_at at time zone 'utc', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') = $2
         from api_key where id = $3",
    )
    .bind(Sha256::digest(text.as_bytes()).as_slice())
    .bind(made["expires_at"].as_str().unwrap())
    .bind(made["id"].as_i64().unwrap())
    .fetch_one(&shell.db.pool)
    .await
    .unwrap();
    assert!(kept);

    let id = &made["id"];
    let (code, successor, _) = shell.run(&format!("keys rotate {id} --overlap 15m"));
    assert!(code == 0 && is_well_formed(successor.trim_end()), "{successor}");
    let (code, told, _) = shell.run(&format!("keys revoke {id}"));
    assert_eq!(code, 0);
    assert_eq!(told, format!("key {id} ({}…, \"nightly\") of acme is revoked\n", &text[..10]));
    let (_, listed, _) = shell.run("keys list --partner acme --json");
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let states: Vec<_> =
        listed.as_array().unwrap().iter().map(|key| key["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["active", "active", "revoked"]);
    let (code, table, _) = shell.run("keys list");
    assert_eq!((code, table.lines().count()), (0, 4), "{table}");
    assert!(!table.contains(text) && table.contains(&text[..10]), "{table}");
}

#[tokio::test]
async fn what_cannot_be_done_with_keys_is_one_line_with_the_mend() {
    let shell = Shell::new().await;
    shell.file(&SAMPLE.replace("max_keys = 3", "max_keys = 1"));
    shell.run("apply catalog.toml");
    shell.run("keys create --partner acme --name ci");
    for (line, code, told) in [
        ("keys create --partner nobody --name ci", 1, "there is no partner \"nobody\""),
        (
            "keys create --partner acme --name ci",
            1,
            "the plan's limit of keys is reached (max_keys = 1); revoke one first",
        ),
        ("keys create --partner acme --name ci --expires soon", 2, "\"soon\" is no duration"),
        ("keys create --partner acme --name ci --expires 4000d", 1, "at most 3660 days"),
        ("keys create --partner acme", 2, "--name"),
        ("keys revoke 999", 1, "there is no key 999"),
        ("keys rotate 999 --overlap 15m", 1, "there is no key 999"),
        ("keys rotate 1", 2, "--overlap"),
        ("keys revoke x", 2, "invalid"),
    ] {
        let (got, out, err) = shell.run(line);
        assert_eq!((got, out.as_str(), err.lines().count()), (code, "", 1), "{line}: {err}");
        assert!(err.contains(told), "{line}: {err}");
    }
}
