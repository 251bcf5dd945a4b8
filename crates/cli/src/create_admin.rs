//! `tollgate create-admin`

use std::io::BufRead;

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde_json::json;
use store::audit::{self, Entry};
use store::users::{self, NewUser};

use crate::{Database, say};

/// Characters of a password at least, as in the API.
const MIN_PASSWORD_CHARS: usize = 12;

/// Flags of `tollgate create-admin`.
#[derive(Debug, Args)]
pub struct CreateAdmin {
    #[command(flatten)]
    database: Database,
    /// The address to sign in with.
    #[arg(long)]
    email: String,
    /// The person's name.
    #[arg(long, default_value = "Administrator")]
    name: String,
    /// The password, at least 12 characters. Better not on the command line, where others see it.
    #[arg(long, env = "TOLLGATE_ADMIN_PASSWORD", hide_env_values = true, conflicts_with = "password_stdin")]
    password: Option<String>,
    /// Read the password from the first line of standard input.
    #[arg(long)]
    password_stdin: bool,
    /// The language of mails and of the console: en or zh.
    #[arg(long, default_value = "en", value_parser = ["en", "zh"])]
    locale: String,
    /// Do nothing where the platform has an owner already.
    #[arg(long)]
    if_missing: bool,
}

impl CreateAdmin {
    /// Creates a person with the role `owner`, who can do everything.
    pub async fn run(self) -> anyhow::Result<()> {
        let parts = self.email.split_once('@');
        let is_address = parts.is_some_and(|(local, host)| !local.is_empty() && !host.is_empty());
        ensure!(is_address && !self.email.contains(char::is_whitespace), "--email `{}` is not an address", self.email);
        let password = self.password()?;
        let store = self.database.connect().await?;
        let mut transaction = store.begin().await?;
        if self.if_missing && users::owner_exists(&mut transaction).await.context(crate::OLD_SCHEMA)? {
            return say("there is an owner already: nothing done");
        }
        let new = NewUser {
            email: &self.email,
            name: &self.name,
            role: "owner",
            tenant_id: None,
            password_hash: &store::password::hash(&password)?,
            locale: &self.locale,
        };
        let user = match users::create(&mut transaction, &new).await {
            Err(store::Error::AlreadyExists { .. }) => {
                bail!("--email {}: someone has this address already", self.email)
            }
            other => other.context(crate::OLD_SCHEMA)?,
        };
        let entry = Entry {
            actor: "cli",
            action: "user.create",
            target: &user.id.to_string(),
            tenant_id: None,
            before: None,
            after: Some(json!({"email": user.email, "role": user.role})),
            address: None,
            request_id: None,
        };
        audit::append(&mut transaction, &entry).await?;
        transaction.commit().await.context("the administrator was not created")?;
        say(&format!("{} can sign in now ({})", user.email, user.id))
    }

    fn password(&self) -> anyhow::Result<String> {
        let password = match (&self.password, self.password_stdin) {
            (Some(password), _) => password.clone(),
            (None, true) => {
                let mut line = String::new();
                std::io::stdin().lock().read_line(&mut line).context("can't read the password")?;
                line.trim_end_matches(['\r', '\n']).to_owned()
            }
            (None, false) => bail!("no password: set TOLLGATE_ADMIN_PASSWORD, or pipe it in with --password-stdin"),
        };
        let length = password.chars().count();
        ensure!(
            length >= MIN_PASSWORD_CHARS,
            "the password has {length} characters: at least {MIN_PASSWORD_CHARS} are needed"
        );
        Ok(password)
    }
}
