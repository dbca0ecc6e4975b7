//! TLS to an upstream: whom Toll trusts, who it says it is, and which protocol comes of it.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use http::Response;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use super::{Bench, PATIENT, http2};
use crate::support::catalog::declare;

fn pem(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("suite/upstream/certificates").join(name)
}

fn tls(ca: &str, client: Option<&str>) -> String {
    let client = client.map(|name| {
        let (cert, key) = (pem(&format!("{name}.pem")), pem(&format!("{name}.key")));
        format!(", cert = {cert:?}, key = {key:?}")
    });
    format!("{PATIENT}\ntls = {{ ca = {:?}{} }}", pem(ca), client.unwrap_or_default())
}

/// Answers with the protocol that was agreed on. Takes only clients with a certificate of the authority `clients`.
async fn origin(protocols: &[&str]) -> String {
    let authority = CertificateDer::from_pem_file(pem("clients.pem")).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier =
        WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone()).build().unwrap();
    let chain = vec![CertificateDer::from_pem_file(pem("server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(pem("server.key")).unwrap();
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier)
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut stream) = acceptor.accept(stream).await else { return };
                if stream.get_ref().1.alpn_protocol() == Some(b"h2") {
                    return http2::serve(stream, |_, mut respond| async move {
                        let mut body = respond.send_response(Response::new(()), false).unwrap();
                        body.send_data(Bytes::from_static(b"h2"), true).unwrap();
                    })
                    .await;
                }
                let mut head = vec![0; 4096];
                let Ok(read) = stream.read(&mut head).await else { return };
                let asked = String::from_utf8_lossy(&head[..read]).into_owned();
                let answer = match () {
                    () if asked.contains("websocket") => {
                        "HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\nhello."
                    }
                    () if asked.starts_with("GET /ends?") => "HTTP/1.1 200 OK\r\n\r\nhttp/1.1",
                    () => "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhttp/1.1",
                };
                stream.write_all(answer.as_bytes()).await.unwrap();
                if !asked.starts_with("GET /ends?") {
                    let _ = stream.read(&mut head).await;
                } else if asked.contains("in=order") {
                    stream.shutdown().await.unwrap();
                } else {
                    stream.flush().await.unwrap();
                }
            });
        }
    });
    format!("https://localhost:{port}")
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_of_an_own_authority_that_asks_for_a_client_certificate_is_called() {
    for (protocols, agreed) in
        [(&["h2", "http/1.1"][..], "h2"), (&["http/1.1"], "http/1.1"), (&[], "http/1.1")]
    {
        let bench = Bench::new(&[origin(protocols).await], &tls("servers.pem", Some("client")), "").await;
        let answer = bench.get("/api/x").await;
        assert_eq!((answer.status(), answer.text()), (200, agreed));
    }
}

/// RFC 9113 §8.6: HTTP/2 has no upgrades, so that the connection for one must be of HTTP/1.1.
#[tokio::test(flavor = "multi_thread")]
async fn an_upgrade_goes_over_http1_although_the_upstream_has_http2() {
    let url = origin(&["h2", "http/1.1"]).await;
    let bench = Bench::new(&[url], &tls("servers.pem", Some("client")), "").await;
    assert_eq!(bench.get("/api/x").await.text(), "h2");
    let mut client = bench.client().await;
    client.get("/api/x", &bench.key, "Connection: Upgrade\r\nUpgrade: websocket\r\n").await;
    assert!(client.head().await.starts_with("HTTP/1.1 101 "));
    assert_eq!(client.until(".").await, "hello.");
}

/// RFC 9112 §9.8: whoever cuts the connection must not be able to cut a body that ends with it.
#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_ends_with_a_connection_that_was_not_closed_in_order_is_not_whole() {
    let url = origin(&["http/1.1"]).await;
    let bench = Bench::new(&[url], &tls("servers.pem", Some("client")), "").await;
    for (path, is_whole) in [("/api/x/ends?in=order", true), ("/api/x/ends?cut=off", false)] {
        assert_eq!(bench.get(path).await.is_whole, is_whole, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upstream_that_nobody_vouches_for_gets_no_request() {
    let url = origin(&["http/1.1"]).await;
    // Neither an authority that did not sign it, nor those of the web, nor a name that is not in its certificate.
    let elsewhere = url.replace("localhost", "127.0.0.2");
    let cases = [
        (&url, tls("clients.pem", Some("client"))),
        (&url, PATIENT.to_owned()),
        (&elsewhere, tls("servers.pem", Some("client"))),
    ];
    for (url, upstream) in cases {
        let bench = Bench::new(std::slice::from_ref(url), &upstream, "").await;
        let answer = bench.get("/api/x").await;
        assert_eq!((answer.status(), answer.outcome()), (502, "upstream_unreachable"), "{url} {upstream}");
        assert_eq!(bench.books(1).await.upstream_calls, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_cannot_be_read_leave_the_upstream_unreachable_until_they_can() {
    let folder = tempfile::tempdir().unwrap();
    let ca = folder.path().join("ca.pem");
    let url = origin(&["h2"]).await;
    let upstream = tls("servers.pem", Some("client"))
        .replace(pem("servers.pem").to_str().unwrap(), ca.to_str().unwrap());
    let bench = Bench::new(std::slice::from_ref(&url), &upstream, "").await;
    assert_eq!(bench.get("/api/x").await.outcome(), "upstream_unreachable");
    std::fs::copy(pem("servers.pem"), &ca).unwrap();
    // Read again with the next change of the catalog.
    declare(
        &bench.toll.db.pool,
        &format!("[[upstream]]\nname = \"x\"\nurls = [{url:?}]\ntimeout = \"9s\"\n{upstream}\n"),
    )
    .await;
    bench.toll.settled().await;
    assert_eq!(bench.get("/api/x").await.text(), "h2");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_health_check_calls_as_requests_do() {
    let url = origin(&["h2", "http/1.1"]).await;
    let upstream = format!("{}\nhealth = \"/healthz\"", tls("servers.pem", Some("client")));
    let dead = format!("{}\nhealth = \"/healthz\"", tls("servers.pem", None));
    for (upstream, is_well) in [(upstream, true), (dead, false)] {
        let bench = Bench::new(std::slice::from_ref(&url), &upstream, "").await;
        let catalog = bench.toll.node.gateway.catalog.now().clone();
        let target = &catalog.upstreams.values().next().unwrap().targets[0];
        // As if the last check had said the opposite.
        target.set_healthy(!is_well);
        super::raw::soon("the health check", async {
            while target.is_usable() != is_well {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        })
        .await;
    }
}
