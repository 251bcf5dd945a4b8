//! What is in flight now, and both copies of the books.

mod books;
mod freezes;

use api_types::tenant::Tenant;
use leptos::prelude::*;

use super::LIVE;
use super::head::{Head, Tab};
use crate::api::live;
use crate::fetch::fetch;

use books::BooksCard;
use freezes::FreezesCard;

/// The live part of the tenant's page.
#[component]
pub fn LiveTab(
    /// The tenant.
    tenant: Tenant,
) -> impl IntoView {
    let id = StoredValue::new(tenant.id.to_string());
    let freezes = fetch(move || id.get_value(), |id| async move { live::freezes(&id).await });
    freezes.poll(LIVE);
    let books = fetch(move || id.get_value(), |id| async move { live::read(&id).await });
    books.poll(LIVE);
    view! {
        <Head tenant=tenant tab=Tab::Live/>
        <FreezesCard tenant=id.get_value() freezes=freezes/>
        <BooksCard tenant=id.get_value() books=books/>
    }
}
