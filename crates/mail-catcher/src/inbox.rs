//! Messages, in memory.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;
use time::OffsetDateTime;

/// A message as it came.
#[derive(Clone, Debug)]
pub struct Message {
    /// Rises by one with each message, and starts at 1.
    pub id: u64,
    /// When its last byte came.
    pub received_at: OffsetDateTime,
    /// The envelope's sender; empty for the null sender.
    pub from: String,
    /// The envelope's recipients.
    pub to: Vec<String>,
    /// Head and body, with CRLF line ends.
    pub raw: Arc<[u8]>,
}

#[derive(Debug, Default)]
struct Kept {
    last_id: u64,
    messages: VecDeque<Message>,
}

/// The messages kept.
#[derive(Debug)]
pub struct Inbox {
    capacity: usize,
    kept: Mutex<Kept>,
}

impl Inbox {
    /// An empty inbox that keeps the last `capacity` messages.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity: capacity.max(1), kept: Mutex::default() }
    }

    pub(crate) fn add(&self, from: String, to: Vec<String>, raw: Vec<u8>) -> u64 {
        let received_at = OffsetDateTime::now_utc();
        let mut kept = self.kept.lock();
        kept.last_id += 1;
        let id = kept.last_id;
        if kept.messages.len() >= self.capacity {
            kept.messages.pop_front();
        }
        kept.messages.push_back(Message { id, received_at, from, to, raw: raw.into() });
        id
    }

    /// All messages, oldest first.
    #[must_use]
    pub fn all(&self) -> Vec<Message> {
        self.kept.lock().messages.iter().cloned().collect()
    }

    /// One message.
    #[must_use]
    pub fn get(&self, id: u64) -> Option<Message> {
        self.kept.lock().messages.iter().find(|message| message.id == id).cloned()
    }

    /// Forgets all messages; their ids are not given again.
    pub fn clear(&self) {
        self.kept.lock().messages.clear();
    }
}
