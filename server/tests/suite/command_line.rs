//! What the program says of itself and of what is wrong.

use std::net::TcpListener;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::support::database::TestDatabase;
use crate::support::toll::{Home, PATIENCE, Serve, get};

/// Exit code and the one line on standard error.
fn fault(output: Output) -> (Option<i32>, String) {
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(error.lines().count(), 1, "{error}");
    (output.status.code(), error.trim().to_owned())
}

#[test]
fn help_and_version_are_no_errors() {
    let home = Home::empty();
    for arguments in [&["--help"][..], &["--version"], &["serve", "--help"], &["migrate", "--help"]] {
        let output = home.run(arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(!output.stdout.is_empty() && output.stderr.is_empty());
    }
    let help = String::from_utf8(home.run(&["serve", "--help"]).stdout).unwrap();
    for setting in toll::config::SETTINGS {
        assert!(help.contains(setting.variable) && help.contains(&setting.flag()), "{}", setting.key);
    }
    assert!(help.contains("Example: toll serve"));
}

#[test]
fn what_only_reads_makes_no_empty_books_in_a_wrong_folder() {
    let home = Home::empty();
    for command in ["audit", "export", "funnel"] {
        let (code, error) = fault(home.run(&[command]));
        assert_eq!(code, Some(1));
        assert!(error.starts_with("toll: there is no Toll in ") && error.contains("--data-dir"), "{error}");
    }
    assert!(!home.data().exists());
}

#[test]
fn wrong_usage_and_wrong_settings_exit_with_2_in_one_line() {
    let home = Home::empty();
    let (code, error) = fault(home.run(&["srve"]));
    assert_eq!((code, error.contains("`toll --help`")), (Some(2), true), "{error}");

    std::fs::write(home.dir.path().join("toll.toml"), "# mine\ncache_bytes = \"lots\"\n").unwrap();
    let (code, error) = fault(home.run(&["serve"]));
    assert_eq!(code, Some(2));
    assert!(error.starts_with("toll: toll.toml:2: cache_bytes: \"lots\" is no size: write"), "{error}");

    std::fs::remove_file(home.dir.path().join("toll.toml")).unwrap();
    let backwards = ["--from", "2026-01-02T00:00:00Z", "--to", "2026-01-01T00:00:00Z"];
    for command in ["funnel", "audit"] {
        let (code, error) = fault(home.run(&[&[command], &backwards[..]].concat()));
        assert_eq!((code, error.contains("earlier time to --from")), (Some(2), true), "{error}");
    }
    let ops = ["users", "invite", "--email", "a@b.example", "--role", "ops", "--partner", "acme"];
    assert_eq!(fault(home.run(&ops)).0, Some(2));
    assert!(!home.data().exists(), "nothing is started for what is wrong from the outset");

    let (code, error) = fault(home.run(&["--config", "other.toml"]));
    assert_eq!(code, Some(2));
    assert!(error.starts_with("toll: other.toml: cannot be read"), "{error}");

    let (code, error) = fault(home.command(&["migrate"]).env("TOLL_CACHE_BYTES", "few").output().unwrap());
    assert_eq!((code, error.starts_with("toll: TOLL_CACHE_BYTES: \"few\"")), (Some(2), true), "{error}");
}

#[test]
fn what_fails_exits_with_1_and_names_the_mend() {
    let home = Home::empty();
    let away = "postgres://toll:hunter2@127.0.0.1:1/toll";
    let (code, error) = fault(home.command(&["migrate"]).env("DATABASE_URL", away).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(error.contains("DATABASE_URL") && !error.contains("hunter2"), "{error}");

    let mut nowhere = home.command(&["migrate"]);
    // Nothing is in it, and Debian's folder cannot be hidden: a cluster of a version that nobody has.
    std::fs::create_dir_all(home.data().join("postgres")).unwrap();
    std::fs::write(home.data().join("postgres/PG_VERSION"), "9\n").unwrap();
    let (code, error) = fault(nowhere.output().unwrap());
    assert_eq!(code, Some(1));
    assert!(error.contains("install postgresql-9"), "{error}");

    std::fs::write(home.dir.path().join("file"), "").unwrap();
    let (code, error) = fault(home.run(&["serve", "--data-dir", "file"]));
    assert_eq!(code, Some(1));
    assert!(error.contains("name another with --data-dir"), "{error}");
}

#[tokio::test]
async fn with_a_database_url_no_private_server_is_started() {
    let (home, db) = (Home::empty(), TestDatabase::new().await);
    let mut command = home.command(&["serve"]);
    command.env("DATABASE_URL", &db.url);
    let mut toll = Serve::start(command);
    assert!(!home.data().join("postgres").exists());
    assert_eq!(toll.stop(), Some(0));
}

/// The commands that a message names, as far as they are commands: `toll keys list`.
fn named_commands(error: &str) -> Vec<Vec<&str>> {
    let quoted = error.split('`').skip(1).step_by(2);
    let commands = quoted.filter_map(|text| text.strip_prefix("toll "));
    commands
        .map(|text| text.split(' ').take_while(|word| word.starts_with(char::is_lowercase)).collect())
        .collect()
}

#[tokio::test]
async fn what_is_not_there_names_the_command_that_shows_or_makes_it() {
    let (home, db) = (Home::empty(), TestDatabase::new().await);
    let with = |arguments: &[&str]| {
        let mut command = home.command(arguments);
        command.env("DATABASE_URL", &db.url);
        command
    };
    std::fs::write(
        home.dir.path().join("catalog.toml"),
        "[[plan]]\nname = \"small\"\ncapacity = 1\nrefill_per_second = 1\nmax_keys = 2\n
         [[partner]]\nslug = \"acme\"\nname = \"Acme\"\nplan = \"small\"\n",
    )
    .unwrap();
    printed(&home, &db, &["apply", "catalog.toml"], &[]);
    sqlx::query("insert into person (email, role, password_hash) values ('ada@example.com', 'ops', '')")
        .execute(&db.pool)
        .await
        .unwrap();
    let create = ["keys", "create", "--partner", "acme", "--name", "ci"];
    for _ in 0..2 {
        printed(&home, &db, &create, &[]);
    }
    printed(&home, &db, &["keys", "rotate", "1", "--overlap", "1h"], &[]);
    printed(&home, &db, &["keys", "revoke", "2"], &[]);
    let invite =
        ["users", "invite", "--email", "eve@example.com", "--role", "partner", "--partner", "nobody"];
    for (arguments, told) in [
        (&["funnel", "--partner", "nobody"][..], "there is no partner \"nobody\"; `toll export` shows"),
        (&["funnel", "--route", "nowhere"], "there is no route \"nowhere\"; `toll export` shows"),
        (
            &["keys", "create", "--partner", "nobody", "--name", "ci"],
            "no partner \"nobody\": `toll export` shows",
        ),
        (&["keys", "list", "--partner", "nobody"], "there is no partner \"nobody\": `toll export` shows"),
        (&invite, "there is no partner \"nobody\": `toll export` shows"),
        (&["keys", "revoke", "99"], "there is no key 99: `toll keys list` shows"),
        (&["keys", "rotate", "99", "--overlap", "1h"], "there is no key 99: `toll keys list` shows"),
        (&["keys", "rotate", "1", "--overlap", "1h"], "rotated already, and ends by itself"),
        (
            &["keys", "rotate", "2", "--overlap", "1h"],
            "make a new one: `toll keys create --partner SLUG --name NAME`",
        ),
        (&["users", "reset", "--email", "eve@example.com"], "has an account: `toll users invite`"),
        (
            &["users", "remove", "--email", "ada@example.com"],
            "first: `toll users invite --email E --role ops`",
        ),
        (
            &["users", "invite", "--email", "ada@example.com", "--role", "ops"],
            "ada@example.com has an account already, as an operator, and an address has one only: `toll users reset",
        ),
    ] {
        let (code, error) = fault(with(arguments).output().unwrap());
        assert_eq!((code, error.contains(told)), (Some(1), true), "{arguments:?}: {error}");
        let named = named_commands(&error);
        assert!(!named.is_empty(), "{error}");
        for command in named {
            let help = with(&[&command[..], &["--help"]].concat()).output().unwrap();
            assert!(help.status.success(), "toll {command:?}, of {error}");
        }
    }
    printed(&home, &db, &create, &[]);
    let (_, error) = fault(with(&create).output().unwrap());
    assert!(error.contains("`toll keys list` shows them, `toll keys revoke ID` ends one"), "{error}");
}

/// What a command prints on standard output, with the settings that it is told beside the database.
fn printed(home: &Home, db: &TestDatabase, arguments: &[&str], told: &[(&str, &str)]) -> String {
    let mut command = home.command(arguments);
    let output = command.env("DATABASE_URL", &db.url).envs(told.iter().copied()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn links_begin_with_the_serving_nodes_public_url_unless_the_command_is_told_another() {
    let (home, db) = (Home::empty(), TestDatabase::new().await);
    let invite = ["users", "invite", "--email", "ada@example.com", "--role", "ops"];
    let link = |told: &[(&str, &str)]| printed(&home, &db, &invite, told);
    assert!(link(&[]).starts_with("http://127.0.0.1:0/invite/"), "as one would serve that is started so");

    let mut command = home.command(&["serve"]);
    command.env("DATABASE_URL", &db.url).env("TOLL_PUBLIC_URL", "https://toll.example/");
    let mut toll = Serve::start(command);
    let deadline = Instant::now() + PATIENCE;
    while !sqlx::query_scalar::<_, bool>("select exists (select from node)")
        .fetch_one(&db.pool)
        .await
        .unwrap()
    {
        assert!(Instant::now() < deadline, "the node never registered");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(link(&[]).starts_with("https://toll.example/invite/"));
    assert!(
        link(&[("TOLL_PUBLIC_URL", "https://other.example")]).starts_with("https://other.example/invite/")
    );
    sqlx::query("insert into person (email, role, password_hash) values ('ada@example.com', 'ops', '')")
        .execute(&db.pool)
        .await
        .unwrap();
    let reset = printed(&home, &db, &["users", "reset", "--email", "ada@example.com"], &[]);
    assert!(reset.starts_with("https://toll.example/reset/"), "{reset}");

    assert_eq!(toll.stop(), Some(0));
    let bob = ["users", "invite", "--email", "bob@example.com", "--role", "ops"];
    assert!(
        printed(&home, &db, &bob, &[]).starts_with("https://toll.example/invite/"),
        "until it serves again"
    );
}

#[tokio::test]
async fn a_command_takes_accounts_and_invitations_back_but_for_the_last_operators() {
    let (home, db) = (Home::empty(), TestDatabase::new().await);
    sqlx::query(
        "insert into person (email, role, password_hash)
         values ('ada@example.com', 'ops', ''), ('bob@example.com', 'ops', '')",
    )
    .execute(&db.pool)
    .await
    .unwrap();
    printed(&home, &db, &["users", "invite", "--email", "eve@example.com", "--role", "ops"], &[]);
    let remove = |email: &'static str| ["users", "remove", "--email", email];
    assert_eq!(printed(&home, &db, &remove("bob@example.com"), &[]), "removed bob@example.com\n");
    let withdrawn = printed(&home, &db, &remove("eve@example.com"), &[]);
    assert_eq!(withdrawn, "withdrew the invitation of eve@example.com\n");
    for (email, told) in
        [("ada@example.com", "the last operator cannot be removed"), ("bob@example.com", "nobody here has")]
    {
        let mut command = home.command(&remove(email));
        let (code, error) = fault(command.env("DATABASE_URL", &db.url).output().unwrap());
        assert_eq!((code, error.contains(told)), (Some(1), true), "{error}");
    }
}

#[tokio::test]
async fn the_admin_listener_counts_what_the_gateway_answers() {
    let (home, db) = (Home::empty(), TestDatabase::new().await);
    let admin = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut command = home.command(&["serve", "--admin-listen", &admin]);
    command.env("DATABASE_URL", &db.url);
    let mut toll = Serve::start(command);
    for _ in 0..3 {
        assert!(toll.get("/api/nothing").starts_with("HTTP/1.1 404"));
    }
    let metrics = get(&admin, "/metrics");
    for line in [
        "toll_arrivals_total 3",
        "toll_in_flight 0",
        "toll_requests_total{stage=\"route\",outcome=\"no_route\"} 3",
        "toll_database_up 1",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} is not in {metrics}");
    }
    assert!(get(&admin, "/readyz").starts_with("HTTP/1.1 200"));
    assert!(!toll.get("/metrics").contains("toll_arrivals"), "never on the public port");
    assert_eq!(toll.stop(), Some(0));
}

#[tokio::test]
async fn a_database_that_waiting_does_not_mend_is_told_once_and_at_once() {
    let (home, db) = (Home::empty(), TestDatabase::new().await);
    let (before, after) = db.url.rsplit_once("/toll_").unwrap();
    let missing =
        format!("{before}/no{}", after.split_once('?').map_or(String::new(), |(_, host)| format!("?{host}")));
    for command in ["serve", "migrate"] {
        let (code, error) = fault(home.command(&[command]).env("DATABASE_URL", &missing).output().unwrap());
        assert_eq!(code, Some(1));
        assert!(error.contains("DATABASE_URL"), "{error}");
        assert_eq!(error.matches("does not exist").count(), 1, "{error}");
    }
    let foreign = "update _sqlx_migrations set checksum = '' where version = 1";
    sqlx::query(foreign).execute(&db.pool).await.unwrap();
    let (code, error) = fault(home.command(&["serve"]).env("DATABASE_URL", &db.url).output().unwrap());
    assert_eq!(
        (code, error.contains("migration 1 of the database is not this toll's")),
        (Some(1), true),
        "{error}"
    );
}

#[test]
fn a_port_that_is_taken_is_told_in_one_line_before_anything_is_made() {
    let home = Home::empty();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    for (flag, variable) in [
        ("--listen", "TOLL_LISTEN"),
        ("--portal-listen", "TOLL_PORTAL_LISTEN"),
        ("--admin-listen", "TOLL_ADMIN_LISTEN"),
    ] {
        let (code, error) = fault(home.run(&["serve", flag, &address]));
        assert_eq!(code, Some(1));
        for told in [&address, flag, variable, "another program does"] {
            assert!(error.contains(told), "{told} is not in {error}");
        }
        assert!(!home.data().exists());
    }
    // Of the documentation (RFC 5737): no machine has it.
    let (_, error) = fault(home.run(&["serve", "--listen", "192.0.2.1:80"]));
    assert!(error.contains("192.0.2.1:80") && error.contains("TOLL_LISTEN"), "{error}");
}

#[test]
fn a_certificate_that_cannot_be_read_is_told_before_anything_is_made() {
    let home = Home::empty();
    let (code, error) = fault(home.run(&["serve", "--tls-cert", "no.pem", "--tls-key", "no.key"]));
    assert_eq!((code, error.contains("no.pem")), (Some(1), true), "{error}");
    assert!(!home.data().exists());
}

#[tokio::test]
async fn several_processes_migrate_one_empty_database_at_once() {
    let (home, db) = (Home::empty(), TestDatabase::empty().await);
    let commands: Vec<_> =
        (0..4).map(|_| home.command(&["migrate"]).env("DATABASE_URL", &db.url).spawn().unwrap()).collect();
    for mut command in commands {
        assert_eq!(command.wait().unwrap().code(), Some(0));
    }
    let tables: i64 = sqlx::query_scalar("select count(*) from pg_class where relname = 'upstream'")
        .fetch_one(&db.pool)
        .await
        .unwrap();
    assert_eq!(tables, 1);
}
