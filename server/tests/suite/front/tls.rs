//! TLS on the client's side: which protocol is spoken is agreed by ALPN (RFC 7301).

use std::sync::Arc;

use http::Method;
use http_body_util::BodyExt;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::http2::{Client, request, whole};
use super::raw::RawOrigin;
use super::{Front, books};

/// Made for these tests, for `localhost`.
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/suite/front/fixtures");

async fn secure() -> Front {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let certificate: &'static str = format!("{FIXTURES}/localhost.pem").leak();
    let key: &'static str = format!("{FIXTURES}/localhost.key.pem").leak();
    Front::before(RawOrigin::ok().await, &[("tls_cert", certificate), ("tls_key", key)]).await
}

async fn connect(front: &Front, protocols: &[&str]) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(format!("{FIXTURES}/localhost.pem")).unwrap()).unwrap();
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    let stream = TcpStream::connect(front.toll.address()).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn http_2_is_spoken_with_who_offers_it() {
    let front = secure().await;
    let stream = connect(&front, &["h2", "http/1.1"]).await;
    assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
    let response = Client::over(stream).await.send(request(Method::GET, "/api/orders", whole(""))).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "ok");
    assert_eq!(front.origin.header("x-forwarded-proto"), ["https"]);
    assert_eq!(front.books().await, books([("proxy forwarded", 1)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn http_1_is_spoken_with_who_offers_it_or_nothing_and_is_held_to_the_same_rules() {
    let front = secure().await;
    for protocols in [&["http/1.1"][..], &[]] {
        for (framing, status) in [("Content-Length: 0", "200"), ("Content-Length: 0, 0", "400")] {
            let mut stream = connect(&front, protocols).await;
            let request = format!(
                "GET /api/orders HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{framing}\r\n\r\n"
            );
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert_eq!(answer.get(9..12), Some(status), "{answer}");
        }
    }
    assert_eq!(front.books().await, books([("proxy forwarded", 2), ("route bad_request", 2)]));
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_http_on_a_port_for_tls_is_no_request() {
    let front = secure().await;
    let mut client = front.connect().await;
    client.send("GET /api/orders HTTP/1.1\r\nHost: a\r\n\r\n").await;
    client.rest().await;
    assert_eq!(front.books().await, books([]));
}
