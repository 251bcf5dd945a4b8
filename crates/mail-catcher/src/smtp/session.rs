//! One sender's session.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufStream},
    net::TcpStream,
    time::timeout,
};

use super::command::Command;
use crate::{Config, Inbox};

/// Time a sender may be silent.
const SILENCE: Duration = Duration::from_secs(60);
/// Longest line of a command, and of a message's text, in bytes with the line end.
const LINE: usize = 4_096;
/// Most recipients of one message.
const RECIPIENTS: usize = 100;
/// A sender is sent away after so many wrong commands.
const SLIPS: u32 = 20;

/// A line as read.
enum Line {
    Whole(Vec<u8>),
    /// Longer than allowed; read to its end and dropped.
    TooLong,
    /// Ends with a bare LF.
    BareEnd,
    End,
}

struct Session<'a> {
    stream: BufStream<TcpStream>,
    config: Config,
    inbox: &'a Inbox,
    greeted: bool,
    from: Option<String>,
    to: Vec<String>,
    slips: u32,
}

/// Talks to one sender until it leaves.
pub(super) async fn run(stream: TcpStream, config: Config, inbox: &Inbox) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut session =
        Session { stream: BufStream::new(stream), config, inbox, greeted: false, from: None, to: Vec::new(), slips: 0 };
    session.reply("220 mail-catcher ESMTP").await?;
    while session.step().await? {}
    Ok(())
}

impl Session<'_> {
    async fn reply(&mut self, reply: &str) -> io::Result<()> {
        self.stream.write_all(reply.as_bytes()).await?;
        self.stream.write_all(b"\r\n").await?;
        self.stream.flush().await
    }

    async fn line(&mut self) -> io::Result<Line> {
        let read = async {
            let mut line = Vec::new();
            let limit = u64::try_from(LINE).unwrap_or(u64::MAX);
            (&mut self.stream).take(limit).read_until(b'\n', &mut line).await?;
            if line.is_empty() {
                return Ok(Line::End);
            }
            if line.ends_with(b"\r\n") {
                line.truncate(line.len() - 2);
                return Ok(Line::Whole(line));
            }
            if line.last() == Some(&b'\n') {
                return Ok(Line::BareEnd);
            }
            if line.len() < LINE {
                return Ok(Line::End);
            }
            loop {
                let mut rest = Vec::new();
                (&mut self.stream).take(limit).read_until(b'\n', &mut rest).await?;
                match rest.last() {
                    None => return Ok(Line::End),
                    Some(b'\n') => return Ok(Line::TooLong),
                    Some(_) => {}
                }
            }
        };
        timeout(SILENCE, read).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    /// One command. Answers whether the session goes on.
    async fn step(&mut self) -> io::Result<bool> {
        let parsed = match self.line().await? {
            Line::End => return Ok(false),
            Line::TooLong => Err("500 5.5.2 line too long"),
            Line::BareEnd => Err("500 5.5.2 lines end with CR LF"),
            Line::Whole(line) => match std::str::from_utf8(&line) {
                Ok(text) => Command::parse(text),
                Err(_) => Err("500 5.5.2 commands are UTF-8"),
            },
        };
        match parsed {
            Ok(command) => self.obey(command).await,
            Err(wrong) => self.slip(wrong).await,
        }
    }

    async fn slip(&mut self, wrong: &str) -> io::Result<bool> {
        self.slips += 1;
        if self.slips > SLIPS {
            self.reply("421 4.7.0 too many errors, closing").await?;
            return Ok(false);
        }
        self.reply(wrong).await?;
        Ok(true)
    }

    fn forget(&mut self) {
        self.from = None;
        self.to.clear();
    }

    async fn obey(&mut self, command: Command) -> io::Result<bool> {
        match command {
            Command::Hello { extended } => {
                self.greeted = true;
                self.forget();
                if extended {
                    let size = self.config.max_message_bytes;
                    let reply = format!(
                        "250-mail-catcher\r\n250-SIZE {size}\r\n250-8BITMIME\r\n250-PIPELINING\r\n250 SMTPUTF8"
                    );
                    self.reply(&reply).await?;
                } else {
                    self.reply("250 mail-catcher").await?;
                }
            }
            Command::Mail { .. } if !self.greeted => return self.slip("503 5.5.1 say EHLO first").await,
            Command::Mail { .. } if self.from.is_some() => {
                return self.slip("503 5.5.1 a sender is named already").await;
            }
            Command::Mail { size, .. } if size.is_some_and(|size| size > self.config.max_message_bytes) => {
                self.reply("552 5.3.4 the message is too large").await?;
            }
            Command::Mail { from, .. } => {
                self.from = Some(from);
                self.reply("250 2.1.0 ok").await?;
            }
            Command::Rcpt { .. } if self.from.is_none() => return self.slip("503 5.5.1 say MAIL first").await,
            Command::Rcpt { .. } if self.to.len() >= RECIPIENTS => self.reply("452 4.5.3 too many recipients").await?,
            Command::Rcpt { to } => {
                self.to.push(to);
                self.reply("250 2.1.5 ok").await?;
            }
            Command::Data if self.from.is_none() => return self.slip("503 5.5.1 say MAIL first").await,
            Command::Data if self.to.is_empty() => return self.slip("503 5.5.1 no valid recipients").await,
            Command::Data => return self.data().await,
            Command::Rset => {
                self.forget();
                self.reply("250 2.0.0 ok").await?;
            }
            Command::Noop => self.reply("250 2.0.0 ok").await?,
            Command::Vrfy => self.reply("252 2.5.0 every address is taken").await?,
            Command::Quit => {
                self.reply("221 2.0.0 bye").await?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the message to its end, which is a dot alone between two CR LF and nothing else.
    async fn data(&mut self) -> io::Result<bool> {
        self.reply("354 end with a line that has only a dot").await?;
        let mut message = Vec::new();
        let (mut too_large, mut malformed) = (false, false);
        loop {
            match self.line().await? {
                Line::End => return Ok(false),
                Line::TooLong | Line::BareEnd => malformed = true,
                // A dot after a bare line end is text: taking it for the end would let mail be smuggled in.
                Line::Whole(line) if line == b"." => break,
                Line::Whole(line) => {
                    let text = line.strip_prefix(b".").unwrap_or(&line);
                    too_large |= message.len() + text.len() + 2 > self.config.max_message_bytes;
                    if !too_large && !malformed {
                        message.extend_from_slice(text);
                        message.extend_from_slice(b"\r\n");
                    }
                }
            }
        }
        let from = self.from.take().unwrap_or_default();
        let to = std::mem::take(&mut self.to);
        if too_large {
            self.reply("552 5.3.4 the message is too large").await?;
        } else if malformed {
            self.reply("550 5.6.0 the message has lines that are too long or don't end with CR LF").await?;
        } else {
            let id = self.inbox.add(from, to, message);
            self.reply(&format!("250 2.0.0 kept as {id}")).await?;
        }
        Ok(true)
    }
}
