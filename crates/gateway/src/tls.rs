//! TLS for callers, from a certificate and a key in files. Replaced files are taken up without a restart.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use parking_lot::RwLock;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

/// How often the files are looked at.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// The present certificate.
pub struct Tls {
    certificate: PathBuf,
    key: PathBuf,
    present: RwLock<Present>,
}

struct Present {
    acceptor: TlsAcceptor,
    written: Option<SystemTime>,
}

impl Tls {
    /// Reads the files.
    ///
    /// # Errors
    /// They can't be read, hold nothing of use, or do not belong together.
    pub fn read(certificate: &Path, key: &Path) -> anyhow::Result<Self> {
        let present = Present { acceptor: acceptor(certificate, key)?, written: written(certificate, key) };
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), present: RwLock::new(present) })
    }

    /// For the next connection.
    #[must_use]
    pub fn acceptor(&self) -> TlsAcceptor {
        self.present.read().acceptor.clone()
    }

    /// Takes up files that were replaced, until `stop`. What can't be used is logged, and the certificate before it stays.
    pub async fn follow(self: Arc<Self>, stop: CancellationToken) {
        let mut ticks = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                _ = ticks.tick() => self.look(),
                () = stop.cancelled() => return,
            }
        }
    }

    fn look(&self) {
        let written = written(&self.certificate, &self.key);
        if written == self.present.read().written {
            return;
        }
        match acceptor(&self.certificate, &self.key) {
            Ok(acceptor) => {
                *self.present.write() = Present { acceptor, written };
                tracing::info!(certificate = %self.certificate.display(), "a new certificate is in use");
            }
            Err(error) => {
                self.present.write().written = written;
                tracing::error!(error = format!("{error:#}"), "a new certificate can't be used; the one before stays");
            }
        }
    }
}

/// When either file was last written.
fn written(certificate: &Path, key: &Path) -> Option<SystemTime> {
    let of = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    of(certificate).max(of(key))
}

fn acceptor(certificate: &Path, key: &Path) -> anyhow::Result<TlsAcceptor> {
    let chain =
        CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, _>>).with_context(
            || format!("TOLLGATE_TLS_CERTIFICATE: no certificates in PEM form in {}", certificate.display()),
        )?;
    let secret = PrivateKeyDer::from_pem_file(key)
        .with_context(|| format!("TOLLGATE_TLS_KEY: no private key in PEM form in {}", key.display()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .context("TOLLGATE_TLS_CERTIFICATE and TOLLGATE_TLS_KEY do not belong together")?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
