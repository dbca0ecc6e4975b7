//! Clients that keep their connections and ask as fast as they are answered.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinHandle;
use uuid::Uuid;

use super::client::{Reply, client};
use super::toll::PATIENCE;

pub struct Load {
    clients: Vec<JoinHandle<Vec<Reply>>>,
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
}

impl Load {
    /// Each client ends at the first request that is not answered whole.
    pub fn start(clients: usize, url: &str, key: &str) -> Load {
        let (stop, answered) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let client = client();
        let clients = (0..clients)
            .map(|_| {
                let request = client.get(url).header("x-api-key", key);
                tokio::spawn(ask(request, stop.clone(), answered.clone()))
            })
            .collect();
        Load { clients, stop, answered }
    }

    /// Answers that came whole so far.
    pub fn answered(&self) -> usize {
        self.answered.load(Ordering::Relaxed)
    }

    pub async fn until_answered(&self, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.answered() < count {
            assert!(Instant::now() < deadline, "{} answers, not {count}", self.answered());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// What came whole; waits for the clients to end.
    pub async fn ended(self) -> Vec<Reply> {
        let mut replies = Vec::new();
        for client in self.clients {
            replies.extend(client.await.unwrap());
        }
        replies
    }

    pub async fn stop(self) -> Vec<Reply> {
        self.stop.store(true, Ordering::Relaxed);
        self.ended().await
    }
}

async fn ask(
    request: reqwest::RequestBuilder,
    stop: Arc<AtomicBool>,
    answered: Arc<AtomicUsize>,
) -> Vec<Reply> {
    let mut replies = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let Ok(response) = request.try_clone().unwrap().send().await else { break };
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let Ok(body) = response.bytes().await else { break };
        replies.push(Reply { status, headers, body });
        answered.fetch_add(1, Ordering::Relaxed);
    }
    replies
}

/// By which the books name it.
pub fn id(reply: &Reply) -> Uuid {
    Uuid::parse_str(reply.header("x-toll-id")).unwrap()
}
