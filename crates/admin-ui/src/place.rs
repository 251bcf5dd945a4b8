//! Which page an address shows. One table of words: matching that is compiled for every page would weigh more than the page.

use leptos::prelude::*;

use crate::router::Router;

/// A page with an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// `/`: leads on.
    Home,
    /// What goes on.
    Overview,
    /// Sums over time.
    Usage,
    /// What needs somebody.
    Alerts,
    /// What was changed.
    Audit,
    /// The people.
    Users,
    /// Oneself.
    Account,
    /// Settings of the platform.
    Settings,
    /// What serves.
    System,
    /// All tenants.
    Tenants,
    /// One tenant, any of its parts.
    Tenant,
    /// One project.
    Project,
    /// One key.
    Key,
    /// The request log.
    Requests,
    /// One request.
    Request,
    /// All models.
    Models,
    /// One model.
    Model,
    /// All prices.
    Prices,
    /// A chat to try.
    Playground,
    /// All upstreams.
    Upstreams,
    /// All webhook endpoints.
    Webhooks,
    /// One webhook endpoint.
    Webhook,
    /// All service tokens.
    ServiceTokens,
    /// The link of an invitation.
    Invitation,
    /// Asking for another password, and the link that one gets.
    PasswordReset,
    /// An address that leads nowhere.
    Missing,
}

impl Place {
    /// The page at a path.
    #[must_use]
    pub fn of(path: &str) -> Self {
        match parts(path).as_slice() {
            [] => Self::Home,
            ["overview"] => Self::Overview,
            ["usage"] => Self::Usage,
            ["alerts"] => Self::Alerts,
            ["audit"] => Self::Audit,
            ["users"] => Self::Users,
            ["account"] => Self::Account,
            ["settings"] => Self::Settings,
            ["system"] => Self::System,
            ["tenants"] => Self::Tenants,
            ["tenants", _] | ["tenants", _, "projects" | "live" | "settings"] => Self::Tenant,
            ["tenants", _, "projects", _] => Self::Project,
            ["tenants", _, "projects", _, "keys", _] => Self::Key,
            ["requests"] => Self::Requests,
            ["requests", _] => Self::Request,
            ["models"] => Self::Models,
            ["models", _] => Self::Model,
            ["prices"] => Self::Prices,
            ["playground"] => Self::Playground,
            ["upstreams"] => Self::Upstreams,
            ["webhooks"] => Self::Webhooks,
            ["webhooks", _] => Self::Webhook,
            ["service-tokens"] => Self::ServiceTokens,
            ["invitation"] => Self::Invitation,
            ["password-reset"] => Self::PasswordReset,
            _ => Self::Missing,
        }
    }
}

fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !part.is_empty()).collect()
}

/// The page at the present address.
#[must_use]
pub fn here() -> Memo<Place> {
    let router = expect_context::<Router>();
    Memo::new(move |_| Place::of(&router.path()))
}

/// The id that follows a noun in the present address, such as `t_...` in `/tenants/t_...`. It stays when the address no longer
/// has one: the page that asks is about to go, and should not ask for nothing.
#[must_use]
pub fn id_after(noun: &'static str) -> Memo<String> {
    let router = expect_context::<Router>();
    Memo::new(move |before: Option<&String>| {
        let id = after(&router.path(), noun);
        if id.is_empty() { before.cloned().unwrap_or_default() } else { id }
    })
}

fn after(path: &str, noun: &str) -> String {
    let parts = parts(path);
    let place = parts.iter().position(|part| *part == noun);
    place.and_then(|place| parts.get(place + 1)).map(|id| (*id).to_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_their_pages() {
        for (path, place) in [
            ("/", Place::Home),
            ("/tenants/", Place::Tenants),
            ("/tenants/t_1/live", Place::Tenant),
            ("/tenants/t_1/projects/p_1", Place::Project),
            ("/tenants/t_1/projects/p_1/keys/k_1", Place::Key),
            ("/requests/req_1", Place::Request),
            ("/service-tokens", Place::ServiceTokens),
            ("/invitation", Place::Invitation),
            ("/tenants/t_1/nothing", Place::Missing),
        ] {
            assert_eq!(Place::of(path), place, "{path}");
        }
    }

    #[test]
    fn ids_follow_their_nouns() {
        let path = "/tenants/t_1/projects/p_1/keys/k_1";
        assert_eq!((after(path, "tenants"), after(path, "keys")), ("t_1".to_owned(), "k_1".to_owned()));
        assert_eq!(after("/tenants", "tenants"), "");
    }
}
