//! Who the tenant is: name, state, ids, period, and the page's tabs.

use api_types::tenant::Tenant;
use leptos::prelude::*;

use super::standing::TenantBadge;
use crate::components::copy::Id;
use crate::components::crumbs::Crumb;
use crate::components::page_head::PageHead;
use crate::components::tabs::{TabLink, Tabs};
use crate::components::written;
use crate::i18n::language;

/// A part of the tenant's page with an address of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tab {
    /// The four numbers and the grants.
    Quota,
    /// Projects.
    Projects,
    /// Both copies of the books, and what is in flight.
    Live,
    /// Settings.
    Settings,
}

impl Tab {
    const ALL: [Self; 4] = [Self::Quota, Self::Projects, Self::Live, Self::Settings];

    /// The end of its address.
    const fn path(self) -> &'static str {
        match self {
            Self::Quota => "",
            Self::Projects => "/projects",
            Self::Live => "/live",
            Self::Settings => "/settings",
        }
    }

    /// The part that an address shows.
    #[must_use]
    pub fn of(path: &str) -> Self {
        let named = Self::ALL.into_iter().skip(1).find(|tab| path.ends_with(tab.path()));
        named.unwrap_or(Self::Quota)
    }
}

/// The head of the tenant's page.
#[component]
pub fn Head(
    /// The tenant.
    tenant: Tenant,
    /// The part shown.
    tab: Tab,
    /// How many projects, once known.
    #[prop(optional, into)]
    projects: Option<Signal<Option<usize>>>,
    /// Buttons.
    #[prop(optional)]
    actions: Option<AnyView>,
) -> impl IntoView {
    let t = language();
    let id = tenant.id.to_string();
    let badge = view! { <TenantBadge tenant=tenant.clone()/><span class="tag">{t.unit_tag(tenant.unit)}</span> };
    let mut facts = vec![("", view! { <Id id=id.clone()/> }.into_any())];
    if let Some(external_id) = tenant.external_id {
        facts.push((t.external_id(), view! { <span class="mono tiny">{external_id}</span> }.into_any()));
    }
    facts.push((t.period(), t.period_in_zone(tenant.period.kind, &tenant.time_zone).into_any()));
    if let Some(at) = tenant.quota.resets_at {
        facts.push((t.resets(), written::moment(at, t, Some(&tenant.time_zone)).into_any()));
    }
    let link = |other: Tab| TabLink {
        words: match other {
            Tab::Quota => t.quota(),
            Tab::Projects => t.projects(),
            Tab::Live => t.live_books(),
            Tab::Settings => t.settings(),
        },
        href: format!("/tenants/{id}{}", other.path()),
        here: other == tab,
        count: projects.filter(|_| other == Tab::Projects),
    };
    let mut tabs: Vec<TabLink> = Tab::ALL.map(link).into();
    let requests = TabLink { words: t.requests(), href: format!("/requests?tenant_id={id}"), here: false, count: None };
    tabs.insert(2, requests);
    let way = vec![Crumb::to(t.tenants(), "/tenants"), Crumb::here(tenant.name.clone())];
    view! {
        <PageHead way=way title=tenant.name badge=badge.into_any() actions=actions.unwrap_or_else(|| ().into_any()) facts=facts/>
        <Tabs label=t.sections() tabs=tabs/>
    }
}

#[cfg(test)]
mod tests {
    use super::Tab;

    #[test]
    fn addresses_name_their_part() {
        assert_eq!(Tab::of("/tenants/t_1"), Tab::Quota);
        assert_eq!(Tab::of("/tenants/t_1/live"), Tab::Live);
        assert_eq!(Tab::of("/tenants/t_1/settings"), Tab::Settings);
    }
}
