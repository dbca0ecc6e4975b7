//! Accepts connections on one thread and serves them there.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::GRACE;
use super::peer::Connection;
use super::serve::{Serves, Surface};
use super::tls::Tls;
use crate::gateway::Gateway;
use crate::ledger::Lane;
use crate::pipeline::{Arrived, Serve, pipeline};

/// Between connections accepted and requests whose head has come; also how long a kept-alive connection may idle.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
const MOST_HEADERS: usize = 100;
const LARGEST_HEAD: usize = 64 << 10;
const BACKLOG: i32 = 4096;

/// Sockets that share the address between threads. Bound once without sharing first, so that a taken port is an error
/// and not a stranger's half of the traffic.
pub fn bind(address: SocketAddr, threads: usize) -> io::Result<Vec<StdListener>> {
    let claimed = socket(address, false)?.local_addr()?.as_socket().unwrap_or(address);
    (0..threads.max(1)).map(|_| socket(claimed, true).map(StdListener::from)).collect()
}

fn socket(address: SocketAddr, shared: bool) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if shared {
        socket.set_reuse_port(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    if shared {
        socket.listen(BACKLOG)?;
    }
    Ok(socket)
}

/// A gateway thread, until `stop` and a grace period.
pub fn run(
    socket: StdListener,
    surface: Surface,
    tls: Option<Tls>,
    gateway: &Arc<Gateway>,
    lane: Arc<Lane>,
    stop: watch::Receiver<bool>,
) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return tracing::error!(%error, "no runtime for a gateway thread"),
    };
    runtime.block_on(async move {
        let listener = match TcpListener::from_std(socket) {
            Ok(listener) => listener,
            Err(error) => return tracing::error!(%error, "a socket cannot be listened on"),
        };
        let serves = Arc::new(Serves::new(surface, pipeline(gateway, lane), gateway.clone()));
        accept(listener, serves, tls, stop).await;
    });
}

async fn accept<S: Serve<Arrived>>(
    listener: TcpListener,
    serves: Arc<Serves<S>>,
    tls: Option<Tls>,
    mut stop: watch::Receiver<bool>,
) {
    let inside = GracefulShutdown::new();
    let builder = Arc::new(builder());
    loop {
        let (stream, address) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, most likely: others have to end first.
                    tracing::warn!(%error, "cannot accept");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            _ = stop.wait_for(|stop| *stop) => break,
        };
        let watcher = inside.watcher();
        let (serves, builder, tls) = (serves.clone(), builder.clone(), tls.clone());
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            match tls {
                None => connection(TokioIo::new(stream), address, false, serves, &builder, watcher).await,
                Some(tls) => match tls.accept(stream).await {
                    Ok(stream) => {
                        connection(TokioIo::new(stream), address, true, serves, &builder, watcher).await
                    }
                    Err(error) => tracing::debug!(%error, "no TLS handshake"),
                },
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, inside.shutdown()).await.is_err() {
        tracing::warn!("requests were still inside when the time to stop was over");
    }
}

fn builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_headers(MOST_HEADERS)
        .max_buf_size(LARGEST_HEAD);
    builder.http2().timer(TokioTimer::new()).max_header_list_size(LARGEST_HEAD as u32);
    builder
}

async fn connection<I, S>(
    io: I,
    address: SocketAddr,
    secure: bool,
    serves: Arc<Serves<S>>,
    builder: &Builder<TokioExecutor>,
    watcher: hyper_util::server::graceful::Watcher,
) where
    I: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    S: Serve<Arrived>,
{
    let connection = Connection::new(address, secure);
    let gateway = serves.gateway.clone();
    let service = service_fn(move |request| {
        let (serves, peer) = (serves.clone(), connection.request());
        async move { Ok::<_, std::convert::Infallible>(serves.serve(request, peer).await) }
    });
    let served = watcher.watch(builder.serve_connection_with_upgrades(io, service).into_owned());
    if let Err(error) = served.await {
        let hyper: Option<&hyper::Error> = error.downcast_ref();
        if hyper.is_some_and(hyper::Error::is_parse) {
            gateway.unreadable.fetch_add(1, Ordering::Relaxed);
        }
        tracing::debug!(%error, "a connection ended");
    }
}
