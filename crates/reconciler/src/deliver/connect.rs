//! Connections to addresses that customers name: the name is resolved once, every address is checked, and the very address
//! that was checked is connected to. No proxy, no pool, no redirect can lead elsewhere.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use domain::destination::Allowed;
use futures_util::future::BoxFuture;
use http::Uri;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tracing::warn;

/// How long one address is tried; the attempt as a whole has its own limit.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// Addresses of a name that are tried, one after the other.
const ADDRESSES: usize = 3;

/// A connection, encrypted or not.
pub type Connection = Pin<Box<dyn Stream>>;

/// What HTTP is spoken over.
pub trait Stream: AsyncRead + AsyncWrite + Send {}
impl<T: AsyncRead + AsyncWrite + Send> Stream for T {}

/// Finds the addresses of a host and port.
pub type Resolve = Arc<dyn Fn(String, u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// Opens connections.
#[derive(Clone)]
pub struct Connector {
    allowed: Allowed,
    resolve: Resolve,
    tls: TlsConnector,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connector").field("allowed", &self.allowed).finish_non_exhaustive()
    }
}

impl Connector {
    /// With the system's resolver and certificates.
    ///
    /// # Errors
    /// The cryptography can't be set up.
    pub fn new(allowed: Allowed) -> anyhow::Result<Self> {
        let resolve: Resolve = Arc::new(|host, port| {
            Box::pin(async move { Ok(tokio::net::lookup_host((host.as_str(), port)).await?.collect()) })
        });
        Self::with_resolver(allowed, resolve)
    }

    /// With another resolver.
    ///
    /// # Errors
    /// The cryptography can't be set up.
    pub fn with_resolver(allowed: Allowed, resolve: Resolve) -> anyhow::Result<Self> {
        let mut roots = RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs();
        for error in found.errors {
            warn!(%error, "a certificate store of the system can't be read");
        }
        roots.add_parsable_certificates(found.certs);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { allowed, resolve, tls: TlsConnector::from(Arc::new(tls)) })
    }

    /// Connects to where the URL points.
    ///
    /// # Errors
    /// Says why not, in words for whoever owns the endpoint.
    pub async fn connect(&self, url: &Uri) -> anyhow::Result<Connection> {
        let host = url.host().context("the URL names no host")?;
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let encrypted = match url.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => bail!("the URL is not https"),
        };
        let port = url.port_u16().unwrap_or(if encrypted { 443 } else { 80 });
        let addresses = self.addresses(bare, port).await?;
        if !encrypted {
            let loopback = addresses.iter().all(|address| address.ip().to_canonical().is_loopback());
            ensure!(loopback, "the URL is not https: plain http is for loopback addresses only");
        }
        let stream = tcp(&addresses).await?;
        if !encrypted {
            return Ok(Box::pin(stream));
        }
        let name = ServerName::try_from(bare.to_owned()).context("the host is no name of a certificate")?;
        let stream = self.tls.connect(name, stream).await.context("no encrypted connection")?;
        Ok(Box::pin(stream))
    }

    /// The host's addresses, all of them allowed.
    async fn addresses(&self, host: &str, port: u16) -> anyhow::Result<Vec<SocketAddr>> {
        let addresses =
            (self.resolve)(host.to_owned(), port).await.with_context(|| format!("{host} has no address"))?;
        ensure!(!addresses.is_empty(), "{host} has no address");
        for address in &addresses {
            if let Err(kind) = self.allowed.check(address.ip()) {
                bail!("{host} has the address {}, which is {kind}: not connected", address.ip());
            }
        }
        Ok(addresses)
    }
}

async fn tcp(addresses: &[SocketAddr]) -> anyhow::Result<TcpStream> {
    let mut last = anyhow::anyhow!("no address");
    for address in addresses.iter().take(ADDRESSES) {
        match tokio::time::timeout(CONNECT_WITHIN, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = anyhow::Error::new(error).context(format!("no connection to {address}")),
            Err(_) => last = anyhow::anyhow!("no connection to {address} within {} s", CONNECT_WITHIN.as_secs()),
        }
    }
    Err(last)
}
