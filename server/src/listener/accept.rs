//! Accepts connections on one thread and serves them there.

use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hyper::service::service_fn;
use hyper_util::rt::TokioExecutor;
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use socket2::{Domain, Protocol, Socket, Type};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;

use super::GRACE;
use super::builder::builder;
use super::peer::Connection;
use super::serve::{Serves, Surface};
use super::tls::Tls;
use super::wire::Wire;
use crate::gateway::Gateway;
use crate::ledger::Lane;
use crate::pipeline::{Arrived, Serve, pipeline};

const BACKLOG: i32 = 4096;

/// Sockets that share the address between threads.
pub struct Bound {
    pub address: SocketAddr,
    pub sockets: Vec<StdListener>,
}

impl Bound {
    /// Bound once without sharing first, so that a taken port is an error and not a stranger's half of the traffic.
    pub fn at(address: SocketAddr, threads: usize) -> io::Result<Bound> {
        let address = socket(address, false)?.local_addr()?.as_socket().unwrap_or(address);
        let sockets = (0..threads.max(1)).map(|_| socket(address, true).map(StdListener::from));
        Ok(Bound { address, sockets: sockets.collect::<io::Result<_>>()? })
    }
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
    runtime: Runtime,
    socket: StdListener,
    surface: Surface,
    tls: Option<Tls>,
    gateway: &Arc<Gateway>,
    lane: Arc<Lane>,
    stop: watch::Receiver<bool>,
) {
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
    let builder = Arc::new(builder(serves.gateway.settings.header_timeout));
    let mut is_short = false;
    loop {
        let (stream, address) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => {
                    if std::mem::take(&mut is_short) {
                        tracing::info!("accepting again");
                    }
                    accepted
                }
                Err(error) => {
                    // Out of file descriptors, most likely: others have to end first.
                    if !std::mem::replace(&mut is_short, true) {
                        tracing::warn!(%error, "cannot accept: connections wait");
                    }
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            _ = stop.wait_for(|stop| *stop) => break,
        };
        // One asks the connection to end; the other is held as long as anything is said over it.
        let watchers = [inside.watcher(), inside.watcher()];
        let (serves, builder, tls) = (serves.clone(), builder.clone(), tls.clone());
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            match tls {
                None => connection(stream, address, false, serves, &builder, watchers).await,
                Some(tls) => match tls.accept(stream).await {
                    Ok(stream) => connection(stream, address, true, serves, &builder, watchers).await,
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

async fn connection<I, S>(
    socket: I,
    address: SocketAddr,
    secure: bool,
    serves: Arc<Serves<S>>,
    builder: &Builder<TokioExecutor>,
    [watcher, held]: [Watcher; 2],
) where
    I: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    S: Serve<Arrived>,
{
    let connection = Connection::new(address, secure);
    let gateway = serves.gateway.clone();
    let wire = Wire::new(socket, connection.clone(), held, gateway.settings.header_timeout);
    let service = service_fn(move |request| {
        let (serves, peer) = (serves.clone(), connection.request());
        async move { Ok::<_, std::convert::Infallible>(serves.serve(request, peer).await) }
    });
    let served = watcher.watch(builder.serve_connection_with_upgrades(wire, service).into_owned());
    if let Err(error) = served.await {
        let hyper: Option<&hyper::Error> = error.downcast_ref();
        if hyper.is_some_and(hyper::Error::is_parse) {
            gateway.unreadable.fetch_add(1, Ordering::Relaxed);
        }
        tracing::debug!(%error, "a connection ended");
    }
}
