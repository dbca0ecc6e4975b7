//! The real program as a child process, in a folder of its own.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use sha2::{Digest, Sha256};
use sqlx::{Connection, PgConnection};

/// What takes longer will not come. Long, for the machine may be slow and busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A data folder, and what runs in it. Nothing is left behind when this is dropped.
pub struct Home {
    pub dir: tempfile::TempDir,
}

/// A `toll serve`; killed when dropped.
pub struct Serve {
    child: Child,
    pub url: String,
    /// What came on standard output and error so far is read by threads.
    errors: mpsc::Receiver<String>,
}

/// The folder that Cargo has built the suite and `toll` in.
fn built() -> PathBuf {
    let suite = std::env::current_exe().unwrap();
    suite.parent().and_then(Path::parent).unwrap().to_owned()
}

/// `toll`, built as the suite was. Cargo builds no other package's programs by itself for a test.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let built = built();
        let profile = if built.ends_with("debug") { "dev" } else { "release" };
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--package", "server", "--bin", "toll", "--profile", profile]);
        assert!(cargo.status().unwrap().success(), "toll does not build");
        built.join("toll")
    })
}

impl Home {
    /// With nothing in it. Open for the user that the private PostgreSQL runs as: temporary folders are closed to others.
    pub fn empty() -> Home {
        let dir = tempfile::Builder::new().prefix("toll-test-").tempdir().unwrap();
        std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
        Home { dir }
    }

    /// With a migrated cluster, copied from one that is made once: `initdb` takes seconds.
    pub fn new() -> Home {
        static TEMPLATE: OnceLock<PathBuf> = OnceLock::new();
        let template = TEMPLATE.get_or_init(|| {
            let migrations = toll::store::MIGRATIONS.iter();
            let schema: Vec<u8> =
                migrations.flat_map(|m| [&m.version.to_be_bytes(), &*m.checksum].concat()).collect();
            let name = format!("cluster-{:x}", Sha256::digest(&schema));
            let template = built().join(name);
            if !template.exists() {
                let home = Home::empty();
                assert!(home.command(&["migrate"]).status().unwrap().success());
                let draft = template.with_extension(std::process::id().to_string());
                copy(&home.data().join("postgres"), &draft);
                // Another run of the tests may have been faster.
                if std::fs::rename(&draft, &template).is_err() {
                    std::fs::remove_dir_all(&draft).unwrap();
                }
            }
            template
        });
        let home = Home::empty();
        std::fs::create_dir(home.data()).unwrap();
        copy(template, &home.data().join("postgres"));
        home
    }

    pub fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    /// `toll` with these arguments and nothing of the environment of the tests.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.args(arguments).current_dir(self.dir.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("TOLL_DATA_DIR", self.data());
        command.env("TOLL_LISTEN", "127.0.0.1:0").env("TOLL_ADMIN_LISTEN", "none");
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn serve(&self) -> Serve {
        Serve::start(self.command(&["serve"]))
    }

    /// The folder in which the private PostgreSQL lives.
    pub fn base(&self) -> PathBuf {
        match std::fs::read_to_string(self.data().join("postgres-is-at")) {
            Ok(base) => PathBuf::from(base.trim()),
            Err(_) => self.data(),
        }
    }

    fn postmaster_line(&self, number: usize) -> Option<String> {
        let text = std::fs::read_to_string(self.base().join("postgres/postmaster.pid")).ok()?;
        text.lines().nth(number).map(|line| line.trim().to_owned())
    }

    /// Of the private PostgreSQL, as its own file says.
    pub fn postmaster(&self) -> Option<Pid> {
        self.postmaster_line(0)?.parse().ok().and_then(Pid::from_raw)
    }

    pub async fn connect(&self) -> PgConnection {
        let deadline = Instant::now() + PATIENCE;
        loop {
            // Written line by line while the server starts.
            let socket = self.postmaster_line(4).filter(|dir| dir.starts_with('/'));
            let url =
                format!("postgres:///toll?host={}&user=postgres", socket.as_deref().unwrap_or("/nowhere"));
            match PgConnection::connect(&url).await {
                Ok(connection) => return connection,
                Err(error) if Instant::now() > deadline => panic!("{url}: {error}"),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if let Some(pid) = self.postmaster().filter(|pid| is_running(*pid)) {
            let _ended = kill_process(pid, Signal::QUIT);
            wait_until("the private PostgreSQL has ended", || !is_running(pid));
        }
        if self.base() != self.data() {
            std::fs::remove_dir_all(self.base()).unwrap();
        }
    }
}

impl Serve {
    /// Waits for the line that names the address.
    pub fn start(mut command: Command) -> Serve {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (out, err) = (lines(child.stdout.take().unwrap()), lines(child.stderr.take().unwrap()));
        let deadline = Instant::now() + PATIENCE;
        let url = loop {
            match out.recv_timeout(deadline - Instant::now()) {
                Ok(line) => {
                    if let Some(at) = line.find("http") {
                        break line[at..].trim().to_owned();
                    }
                }
                Err(_) => {
                    let _gone = child.kill();
                    panic!("toll serve did not come up:\n{}", err.iter().collect::<Vec<_>>().join("\n"));
                }
            }
        };
        Serve { child, url, errors: err }
    }

    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).unwrap();
    }

    pub fn wait(&mut self) -> ExitStatus {
        let mut status = None;
        wait_until("toll serve has ended", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Asks it to end and gives its exit code; `None` if a signal killed it.
    pub fn stop(&mut self) -> Option<i32> {
        self.signal(Signal::TERM);
        let status = self.wait();
        assert_eq!(status.signal(), None);
        status.code()
    }

    /// `kill -9`.
    pub fn kill(mut self) {
        self.signal(Signal::KILL);
        self.wait();
    }

    /// The whole answer to a GET, head and body.
    pub fn get(&self, path: &str) -> String {
        get(self.url.strip_prefix("http://").unwrap(), path)
    }

    /// The log since the last call.
    pub fn log(&self) -> String {
        self.errors.try_iter().collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}

fn lines(from: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    receive
}

pub fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Owner and modes included.
fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

pub fn is_running(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).unwrap_or_default();
    // An orphan that nobody waits for stays as a zombie in some containers.
    test_kill_process(pid).is_ok() && !stat.contains(") Z ")
}

/// Polls for as long as a busy machine may need.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// TCP ports, in hex, on which one of these processes listens.
pub fn listening_ports(pid: Pid) -> BTreeSet<String> {
    let sockets: Vec<String> = std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero()))
        .unwrap()
        .filter_map(|fd| std::fs::read_link(fd.unwrap().path()).ok())
        .filter_map(|link| link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']').map(str::to_owned))
        .collect();
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|t| std::fs::read_to_string(Path::new(t)).unwrap());
    tables
        .iter()
        .flat_map(|table| table.lines().skip(1))
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|fields| fields[3] == "0A" && sockets.iter().any(|inode| inode == fields[9]))
        .map(|fields| fields[1].to_owned())
        .collect()
}
