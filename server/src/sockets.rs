//! The sockets of a process and what is spoken over them. Taken before anything else is made or started: a taken port costs
//! nothing and leaves nothing behind.

use std::io;
use std::net::SocketAddr;

use crate::config::{Config, SETTINGS};
use crate::listener::{Bound, Tls};

pub struct Sockets {
    pub gateway: Bound,
    pub portal: Option<Bound>,
    pub admin: Option<Bound>,
    pub tls: Option<Tls>,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {} choose another address with {flag} or {variable}", words(.cause))]
pub struct Taken {
    address: SocketAddr,
    cause: io::Error,
    flag: String,
    variable: &'static str,
}

impl Sockets {
    /// From here on clients can connect; they are answered once the node has started.
    pub fn bind(config: &Config) -> anyhow::Result<Sockets> {
        let tls = match (&config.tls_cert, &config.tls_key) {
            (Some(certificate), Some(key)) => Some(Tls::read(certificate, key)?),
            _ => None,
        };
        let optional = |key, address: Option<SocketAddr>, threads| {
            address.map(|address| bind(key, address, threads)).transpose()
        };
        Ok(Sockets {
            gateway: bind("listen", config.listen, config.gateway_threads)?,
            portal: optional("portal_listen", config.portal_listen, config.gateway_threads)?,
            admin: optional("admin_listen", config.admin_listen, 1)?,
            tls,
        })
    }
}

/// `key` is the setting's.
fn bind(key: &str, address: SocketAddr, threads: usize) -> Result<Bound, Taken> {
    Bound::at(address, threads).map_err(|cause| {
        let setting = SETTINGS.iter().find(|setting| setting.key == key).expect("a setting of the table");
        Taken { address, cause, flag: setting.flag(), variable: setting.variable }
    })
}

fn words(cause: &io::Error) -> String {
    match cause.kind() {
        io::ErrorKind::AddrInUse => "another program does: stop that, or".to_owned(),
        _ => format!("{cause}:"),
    }
}
