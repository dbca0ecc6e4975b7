//! A client of the gateway.

use bytes::Bytes;
use http::HeaderMap;

/// An answer, read whole.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub async fn of(request: reqwest::RequestBuilder) -> Reply {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Reply { status, headers, body: response.bytes().await.unwrap() }
    }

    /// A header's text; empty if it is not there.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn stage(&self) -> &str {
        self.header("x-toll-stage")
    }

    pub fn outcome(&self) -> &str {
        self.header("x-toll-outcome")
    }

    pub fn number(&self, name: &str) -> u64 {
        self.header(name).parse().unwrap_or_else(|_| panic!("{name} is {:?}", self.header(name)))
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

/// A client that opens a connection for each request that finds none idle, and follows nothing.
pub fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build().unwrap()
}

/// A client that uses each connection once.
pub fn client_without_keep_alive() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap()
}

/// GET with a key.
pub async fn get(client: &reqwest::Client, url: &str, key: &str) -> Reply {
    Reply::of(client.get(url).header("x-api-key", key)).await
}
