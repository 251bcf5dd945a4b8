//! `tollgate create-service-token`

use anyhow::Context;
use api_types::service_token::TokenScope;
use clap::Args;
use domain::TenantId;
use domain::api_key::{KeyKind, KeyText, SecretKey, hash};
use serde_json::json;
use store::audit::{self, Entry};
use store::service_tokens::{self, NewServiceToken};

use crate::{Database, say};

/// Flags of `tollgate create-service-token`.
#[derive(Debug, Args)]
pub struct CreateServiceToken {
    #[command(flatten)]
    database: Database,
    /// The deployment's secret key: 32 bytes in base64, the same for every service.
    #[arg(long, env = "TOLLGATE_SECRET_KEY", hide_env_values = true, value_parser = secret_key)]
    secret_key: SecretKey,
    /// What the token is for.
    #[arg(long)]
    name: String,
    /// One thing that it may do, such as tenants:write; repeat for more.
    #[arg(long = "scope", value_name = "SCOPE", value_parser = scope, required_unless_present = "all_scopes")]
    scopes: Vec<TokenScope>,
    /// It may do everything that a token can.
    #[arg(long, conflicts_with = "scopes")]
    all_scopes: bool,
    /// Limit it to this tenant (t_...); repeat for more.
    #[arg(long = "tenant", value_name = "ID")]
    tenants: Vec<TenantId>,
    /// Print one JSON object: id, secret, prefix.
    #[arg(long)]
    json: bool,
}

impl CreateServiceToken {
    /// Makes a token and prints its secret, the only time that it can be seen.
    pub async fn run(self) -> anyhow::Result<()> {
        let store = self.database.connect().await?;
        let secret = KeyText::generate(KeyKind::Service, &rand::random());
        let scopes = if self.all_scopes { TokenScope::ALL } else { &self.scopes };
        let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
        let new = NewServiceToken {
            name: &self.name,
            secret_hash: &hash(&self.secret_key, secret.expose()),
            prefix: secret.shown(),
            scopes: &scopes,
            tenant_ids: (!self.tenants.is_empty()).then_some(self.tenants.as_slice()),
            expires_at: None,
        };
        let mut transaction = store.begin().await?;
        let token = service_tokens::create(&mut transaction, &new).await.context(crate::OLD_SCHEMA)?;
        let entry = Entry {
            actor: "cli",
            action: "service_token.create",
            target: &token.id.to_string(),
            tenant_id: None,
            before: None,
            after: Some(json!({"name": token.name, "scopes": token.scopes})),
            address: None,
            request_id: None,
        };
        audit::append(&mut transaction, &entry).await?;
        transaction.commit().await.context("the token was not made")?;
        if self.json {
            let reply = json!({"id": token.id.to_string(), "secret": secret.expose(), "prefix": token.prefix});
            return say(&reply.to_string());
        }
        say(secret.expose())
    }
}

fn secret_key(text: &str) -> Result<SecretKey, String> {
    SecretKey::from_base64(text).map_err(|error| error.to_string())
}

fn scope(text: &str) -> Result<TokenScope, String> {
    text.parse().map_err(|_| {
        let all: Vec<&str> = TokenScope::ALL.iter().map(|scope| scope.as_str()).collect();
        format!("not a scope; there are: {}", all.join(", "))
    })
}
