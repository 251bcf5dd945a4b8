//! What each dialect's requests, replies and streams say: the model, the maximum, the prompt, the usage, the words.
//!
//! Pure functions over bytes. They know no quota, no prices and no HTTP client. To add a dialect: a folder beside
//! `chat` with the same three files, and its arm in [`crate::life`].

pub mod chat;
pub mod field;
