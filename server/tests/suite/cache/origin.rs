//! An origin that writes what a test says, by target.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use tokio::sync::Semaphore;

use crate::support::raw::{RawOrigin, RawSeen, Step};

/// What the origin does when it is asked.
#[derive(Clone, Debug)]
pub struct Answer(Vec<Step>);

/// A whole answer with its length and nothing that is not said: no `Date`, no type.
pub fn answer(status: u16, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut text = format!("HTTP/1.1 {status} Said\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    if !matches!(status, 204 | 304) {
        text.push_str(&format!("content-length: {}\r\n", body.len()));
    }
    Answer::written(&format!("{text}\r\n{body}"))
}

/// 200 with this `Cache-Control`.
pub fn cached(control: &str, body: &str) -> Answer {
    answer(200, &[("cache-control", control)], body)
}

impl Answer {
    /// Exactly these bytes.
    pub fn written(bytes: &str) -> Answer {
        Answer(vec![Step::send(bytes)])
    }

    /// Nothing at all: the connection closes.
    pub fn closed() -> Answer {
        Answer(vec![Step::Close])
    }

    pub fn then_written(self, bytes: &str) -> Answer {
        self.then(Step::send(bytes))
    }

    pub fn then_waiting(self, gate: &Arc<Semaphore>) -> Answer {
        self.then(Step::Wait(gate.clone()))
    }

    pub fn then_closed(self) -> Answer {
        self.then(Step::Close)
    }

    pub fn after(mut self, gate: &Arc<Semaphore>) -> Answer {
        self.0.insert(0, Step::Wait(gate.clone()));
        self
    }

    fn then(mut self, step: Step) -> Answer {
        self.0.push(step);
        self
    }

    /// As it is for HEAD: no more than heads.
    fn without_body(mut self) -> Answer {
        for step in &mut self.0 {
            if let Step::Send(bytes) = step
                && let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n")
            {
                bytes.truncate(at + 4);
            }
        }
        self
    }
}

pub fn gate() -> Arc<Semaphore> {
    Arc::new(Semaphore::new(0))
}

/// As HTTP has it, so many seconds from now.
pub fn date(seconds: i64) -> String {
    let offset = Duration::from_secs(seconds.unsigned_abs());
    let now = SystemTime::now();
    httpdate::fmt_http_date(if seconds < 0 { now - offset } else { now + offset })
}

/// The answers that are left for each target; the last one stays.
type Scripts = Mutex<HashMap<String, Vec<Answer>>>;

pub struct Origin {
    raw: RawOrigin,
    scripts: Arc<Scripts>,
}

impl Origin {
    pub async fn start() -> Origin {
        let scripts = Arc::new(Scripts::default());
        let read = scripts.clone();
        Origin { raw: RawOrigin::start(move |seen| next(&read, seen).0).await, scripts }
    }

    /// What this target gets: the first request the first answer, and so on; the last one stays.
    pub fn at(&self, target: &str, answers: impl IntoIterator<Item = Answer>) {
        self.scripts.lock().unwrap().insert(target.to_owned(), answers.into_iter().collect());
    }

    pub fn url(&self) -> String {
        self.raw.url()
    }

    /// Takes no connections any more, and ends those that there are.
    pub fn stop(&self) {
        self.raw.stop();
    }

    pub fn seen(&self) -> Vec<RawSeen> {
        self.raw.seen()
    }

    /// Requests for this target.
    pub fn asked(&self, target: &str) -> usize {
        self.seen().iter().filter(|seen| seen.target == target).count()
    }

    pub fn last(&self, target: &str) -> RawSeen {
        self.seen().into_iter().rfind(|seen| seen.target == target).unwrap()
    }
}

fn next(scripts: &Scripts, seen: &RawSeen) -> Answer {
    let mut scripts = scripts.lock().unwrap();
    let answers = scripts.entry(seen.target.clone()).or_default();
    let answer = match answers.len() {
        0 => answer(404, &[], "no script"),
        1 => answers[0].clone(),
        _ => answers.remove(0),
    };
    if seen.method == "HEAD" { answer.without_body() } else { answer }
}
