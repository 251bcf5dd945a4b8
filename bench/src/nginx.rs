//! nginx: as the provider that answers at once, and as the plain proxy that everything is measured against.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use tokio::process::{Child, Command};

/// A running nginx, ended with this value.
pub struct Nginx {
    /// Where it listens.
    pub address: SocketAddr,
    child: Child,
    _folder: tempfile::TempDir,
}

impl Nginx {
    /// Answers every request at once with a chat completion of 9 and 12 tokens.
    ///
    /// # Errors
    /// nginx can't be started.
    pub async fn provider() -> anyhow::Result<Self> {
        let body = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1767225600,"model":"bench","choices":[{"index":0,"message":{"role":"assistant","content":"Twelve tokens of an answer that is the same for everybody."},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21}}"#;
        Self::start(&format!("location / {{ default_type application/json; return 200 '{body}'; }}"), "").await
    }

    /// Passes every request on, unbuffered, over kept connections.
    ///
    /// # Errors
    /// nginx can't be started.
    pub async fn proxy(to: SocketAddr) -> anyhow::Result<Self> {
        let location = "location / { proxy_pass http://behind; proxy_http_version 1.1; proxy_set_header Connection ''; \
                        proxy_buffering off; proxy_read_timeout 300s; }";
        Self::start(location, &format!("upstream behind {{ server {to}; keepalive 256; }}")).await
    }

    async fn start(location: &str, upstream: &str) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let path = folder.path();
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|name| format!("{name}_temp_path {}/{name};", path.display()))
            .concat();
        let configuration = format!(
            "daemon off; master_process off; worker_processes 1; pid {}/pid; error_log stderr warn; worker_rlimit_nofile 20000;
             events {{ worker_connections 15000; }}
             http {{ access_log off; keepalive_requests 100000000; keepalive_timeout 300s; {temporary} {upstream}
                     server {{ listen {address} backlog=4096; client_max_body_size 32m; {location} }} }}",
            path.display()
        );
        let file = path.join("nginx.conf");
        std::fs::write(&file, configuration)?;
        let child = Self::run(path, &file)?;
        let nginx = Self { address, child, _folder: folder };
        nginx.wait().await?;
        Ok(nginx)
    }

    fn run(folder: &Path, file: &Path) -> anyhow::Result<Child> {
        let mut command = Command::new("nginx");
        command.arg("-p").arg(folder).arg("-c").arg(file).stdout(Stdio::null()).kill_on_drop(true);
        command.spawn().context("nginx can't be started; `./dev bench` installs it")
    }

    async fn wait(&self) -> anyhow::Result<()> {
        for _ in 0..200 {
            if tokio::net::TcpStream::connect(self.address).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        bail!("nginx does not listen on {}", self.address)
    }

    /// Its only process.
    ///
    /// # Errors
    /// It has ended.
    pub fn pid(&self) -> anyhow::Result<u32> {
        self.child.id().context("nginx has ended")
    }
}
