//! One connection of the load generator.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Where requests go, and what is sent.
#[derive(Debug, Clone)]
pub struct Aim {
    /// Who answers.
    pub address: SocketAddr,
    /// `Authorization`.
    pub bearer: String,
    /// The body.
    pub body: Bytes,
}

impl Aim {
    fn request(&self) -> anyhow::Result<Request<Full<Bytes>>> {
        Ok(Request::post("/v1/chat/completions")
            .header("host", self.address.to_string())
            .header("authorization", format!("Bearer {}", self.bearer))
            .header("content-type", "application/json")
            .body(Full::new(self.body.clone()))?)
    }
}

/// A connection that is kept.
pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// Nobody is there.
    pub async fn open(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("nobody at {address}"))?;
        stream.set_nodelay(true)?;
        let (sender, connection) = handshake(TokioIo::new(stream)).await?;
        tokio::spawn(async move {
            let _ = connection.await;
        });
        Ok(Self { sender })
    }

    /// One request with its whole answer.
    ///
    /// # Errors
    /// Anything but 200.
    pub async fn call(&mut self, aim: &Aim) -> anyhow::Result<()> {
        self.sender.ready().await?;
        let response = self.sender.send_request(aim.request()?).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        ensure!(status == 200, "{status}: {}", String::from_utf8_lossy(&body));
        Ok(())
    }

    /// One streamed answer: the time to its first chunk, and what `each` is told of every chunk.
    ///
    /// # Errors
    /// Anything but a 200 that ends well.
    pub async fn stream(&mut self, aim: &Aim, mut each: impl FnMut(&Bytes)) -> anyhow::Result<Duration> {
        self.sender.ready().await?;
        let began = Instant::now();
        let response = self.sender.send_request(aim.request()?).await?;
        ensure!(response.status() == 200, "{}", response.status());
        let (mut body, mut first) = (response.into_body(), None);
        while let Some(frame) = body.frame().await {
            if let Ok(data) = frame?.into_data() {
                first.get_or_insert_with(|| began.elapsed());
                each(&data);
            }
        }
        first.context("a stream without a chunk")
    }
}
