//! What a former run has left behind: a server that still runs, or the files of one that does not.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::Pid;

/// A running server of our cluster that nobody looks after.
#[derive(Debug, PartialEq, Eq)]
pub struct Orphan {
    pub pid: Pid,
    /// Unknown while it has only begun to start.
    pub socket_dir: Option<PathBuf>,
    /// Whether it was started as Toll starts it. Another may listen on TCP.
    pub is_private: bool,
}

/// What `postmaster.pid` says, whether or not it is still true.
struct PidFile {
    pid: Pid,
    socket_dir: Option<PathBuf>,
}

/// The folder of the socket, as the running server wrote it down.
pub fn socket_dir(cluster: &Path) -> Option<PathBuf> {
    PidFile::read(cluster).and_then(|file| file.socket_dir)
}

/// Finds an orphan. The files of a server that is dead, and whose process id may be another program's by now, are
/// removed: PostgreSQL would take that program for a server. Only who holds the owner's lock may call this.
pub fn find(cluster: &Path) -> io::Result<Option<Orphan>> {
    let Some(file) = PidFile::read(cluster) else { return Ok(None) };
    let arguments = command_line(file.pid);
    match judge(&arguments, cluster) {
        Judged::Ours => {
            let is_private = arguments.iter().any(|argument| argument == "listen_addresses=");
            Ok(Some(Orphan { pid: file.pid, socket_dir: file.socket_dir, is_private }))
        }
        // PostgreSQL itself looks closer, and refuses to start if in doubt.
        Judged::Unclear => Ok(None),
        Judged::Another => {
            tracing::info!(
                pid = file.pid.as_raw_nonzero().get(),
                "clearing away the lock of a PostgreSQL that died"
            );
            remove(&cluster.join("postmaster.pid"))?;
            if let Some(socket_dir) = file.socket_dir {
                remove(&socket_dir.join(".s.PGSQL.5432.lock"))?;
            }
            Ok(None)
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Judged {
    Ours,
    Another,
    Unclear,
}

/// Whether a process is the server of `cluster`, by its command line: `/proc/PID/cwd` would need a privilege.
fn judge(arguments: &[String], cluster: &Path) -> Judged {
    let program = arguments.first().map(Path::new).and_then(Path::file_name);
    if program.is_none_or(|name| name != "postgres") {
        return Judged::Another;
    }
    let folder = arguments.iter().position(|a| a == "-D").and_then(|at| arguments.get(at + 1));
    match folder {
        Some(folder) if Path::new(folder) == cluster => Judged::Ours,
        Some(_) => Judged::Another,
        None => Judged::Unclear,
    }
}

fn command_line(pid: Pid) -> Vec<String> {
    let text = fs::read(format!("/proc/{}/cmdline", pid.as_raw_nonzero())).unwrap_or_default();
    let parts = text.split(|byte| *byte == 0).map(|part| String::from_utf8_lossy(part).into_owned());
    parts.filter(|part| !part.is_empty()).collect()
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

impl PidFile {
    /// Lines: process id, data folder, start time, port, socket folder, …
    fn read(cluster: &Path) -> Option<PidFile> {
        let text = fs::read_to_string(cluster.join("postmaster.pid")).ok()?;
        let mut lines = text.lines();
        let pid = Pid::from_raw(lines.next()?.trim().parse().ok()?)?;
        let socket_dir = lines.nth(3).map(str::trim).filter(|dir| !dir.is_empty()).map(PathBuf::from);
        Some(PidFile { pid, socket_dir })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(line: &str) -> Judged {
        let arguments: Vec<String> = line.split('|').map(str::to_owned).collect();
        judge(&arguments, Path::new("/data/postgres"))
    }

    #[test]
    fn only_a_server_of_this_cluster_is_ours() {
        assert_eq!(judged("/usr/lib/postgresql/15/bin/postgres|-D|/data/postgres|-p|5432"), Judged::Ours);
        assert_eq!(judged("/usr/lib/postgresql/15/bin/postgres|-D|/data/other"), Judged::Another);
        assert_eq!(judged("/usr/lib/postgresql/15/bin/postgres"), Judged::Unclear);
        assert_eq!(judged("postgres: checkpointer |"), Judged::Another);
        assert_eq!(judged("/usr/bin/vi|-D|/data/postgres"), Judged::Another);
        assert_eq!(judge(&[], Path::new("/data/postgres")), Judged::Another);
    }

    #[test]
    fn the_lock_of_a_dead_server_is_cleared_away_even_if_its_number_is_in_use_again() {
        let home = tempfile::tempdir().expect("a folder");
        let lock = home.path().join("postmaster.pid");
        let socket = home.path().join(".s.PGSQL.5432.lock");
        fs::write(&socket, "1\n").expect("writable");
        let here = home.path().display();
        fs::write(&lock, format!("{}\n{here}\n1700000000\n5432\n{here}\n", std::process::id()))
            .expect("writable");
        assert_eq!(find(home.path()).expect("readable"), None);
        assert!(!lock.exists() && !socket.exists());
        assert_eq!(find(home.path()).expect("readable"), None);
    }
}
