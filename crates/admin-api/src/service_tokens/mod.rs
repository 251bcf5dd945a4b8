//! Tokens of systems.

pub mod create;
pub mod delete;
pub mod list;
pub mod rotate;

use api_types::service_token::ServiceToken;

/// A token as the API shows it, without its secret.
pub fn view(token: store::service_tokens::ServiceToken) -> ServiceToken {
    ServiceToken {
        id: token.id,
        secret: None,
        prefix: token.prefix,
        name: token.name,
        scopes: token.scopes.iter().filter_map(|scope| scope.parse().ok()).collect(),
        tenant_ids: token.tenant_ids,
        expires_at: token.expires_at.map(Into::into),
        last_used_at: token.last_used_at.map(Into::into),
        created_at: token.created_at.into(),
    }
}
