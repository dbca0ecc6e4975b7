//! How the urls of an upstream are called that begin with `https://`: whom Toll trusts there, and who it says it is.

use std::path::Path;
use std::sync::Arc;

use app::manifest::TlsFiles;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use sha2::{Digest, Sha256};

/// TLS 1.2 and later.
pub struct Tls {
    /// HTTP/2 where the upstream has it, else HTTP/1.1 (ALPN).
    pub config: Arc<ClientConfig>,
    pub only_http1: Arc<ClientConfig>,
    /// Of what the files held: tells whether they have changed.
    digest: [u8; 32],
}

impl std::fmt::Debug for Tls {
    /// Without the key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").finish_non_exhaustive()
    }
}

impl PartialEq for Tls {
    fn eq(&self, other: &Tls) -> bool {
        self.digest == other.digest
    }
}

impl Tls {
    /// # Errors
    /// Says which file cannot be used, and why.
    pub fn read(files: &TlsFiles) -> anyhow::Result<Tls> {
        let mut digest = Sha256::new();
        let mut pem = |path: &str| -> anyhow::Result<Vec<u8>> {
            let bytes = std::fs::read(Path::new(path)).map_err(|error| anyhow::anyhow!("{path}: {error}"))?;
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(&bytes);
            Ok(bytes)
        };
        let roots = match &files.ca {
            None => RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() },
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path, &pem(path)?)? {
                    roots.add(certificate).map_err(|error| anyhow::anyhow!("{path}: {error}"))?;
                }
                roots
            }
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots);
        let mut config = match (&files.cert, &files.key) {
            (Some(cert), Some(key)) => {
                let chain = certificates(cert, &pem(cert)?)?;
                let read = PrivateKeyDer::from_pem_slice(&pem(key)?);
                let read = read.map_err(|error| anyhow::anyhow!("{key}: {error}"))?;
                builder
                    .with_client_auth_cert(chain, read)
                    .map_err(|error| anyhow::anyhow!("{cert} with {key}: {error}"))?
            }
            _ => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let only_http1 = Arc::new(config.clone());
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Tls { config: Arc::new(config), only_http1, digest: digest.finalize().into() })
    }
}

/// At least one.
fn certificates(path: &str, pem: &[u8]) -> anyhow::Result<Vec<CertificateDer<'static>>> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match read {
        Ok(chain) if chain.is_empty() => anyhow::bail!("{path}: holds no certificate"),
        Ok(chain) => Ok(chain),
        Err(error) => anyhow::bail!("{path}: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_used_is_named() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("ca.pem").to_string_lossy().into_owned();
        let files = TlsFiles { ca: Some(path.clone()), ..TlsFiles::default() };
        let told = |files: &TlsFiles| Tls::read(files).expect_err("no certificates there").to_string();
        assert!(told(&files).starts_with(&path), "{}", told(&files));
        std::fs::write(&path, "no certificate").expect("written");
        assert_eq!(told(&files), format!("{path}: holds no certificate"));
    }
}
