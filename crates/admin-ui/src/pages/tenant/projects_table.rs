//! All projects of a tenant.

use api_types::Page;
use api_types::project::{Project, ProjectStatus};
use domain::Amount;
use leptos::prelude::*;

use crate::components::badge::{Badge, Tone};
use crate::components::gate::{Gate, Size};
use crate::components::icon::Icon;
use crate::components::live::live;
use crate::components::states::{Empty, Failed, Loading};
use crate::fetch::Fetch;
use crate::figures::Figures;
use crate::format;
use crate::i18n::language;
use crate::session::Session;

/// The projects with their bars and numbers.
#[component]
pub fn ProjectsCard(
    /// Whose.
    tenant: String,
    /// The projects.
    projects: Fetch<Page<Project>>,
    /// A project is to be created.
    on_create: Callback<()>,
) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let tenant = StoredValue::new(tenant);
    let body = live(move || {
        match (projects.data.get(), projects.failure.get()) {
        (Some(page), _) if !page.items.is_empty() => view! { <ProjectsTable tenant=tenant.get_value() projects=page.items/> }.into_any(),
        (_, Some(failure)) => view! { <Failed failure=failure on_again=Callback::new(move |()| projects.again())/> }.into_any(),
        (Some(_), None) => view! {
            <Empty icon="playground" title=t.no_projects() hint=t.no_projects_hint()>
                {session.may_own().then(|| view! { <button class="btn" type="button" on:click=move |_| on_create.run(())><Icon name="plus"/>{t.new_project()}</button> })}
            </Empty>
        }
        .into_any(),
        (None, None) => view! { <Loading rows=5/> }.into_any(),
    }
    });
    view! {
        <section class="card" aria-labelledby="h-projects">
            <div class="card-head"><h2 id="h-projects">{t.projects()}</h2></div>
            {body}
        </section>
    }
}

#[component]
fn ProjectsTable(tenant: String, projects: Vec<Project>) -> impl IntoView {
    let t = language();
    let row = move |project| view! { <ProjectRow tenant=tenant.clone() project=project/> };
    view! {
        <div class="table-wrap">
            <table role="table" class="table cards">
                <caption class="vh">{t.projects()}</caption>
                <thead role="rowgroup">
                    <tr role="row">
                        <th role="columnheader" scope="col">{t.project()}</th>
                        <th role="columnheader" scope="col">{t.state()}</th>
                        <th role="columnheader" scope="col">{t.budget()}</th>
                        <th role="columnheader" scope="col" class="r">{t.total()}</th>
                        <th role="columnheader" scope="col" class="r">{t.used()}</th>
                        <th role="columnheader" scope="col" class="r">{t.in_flight()}</th>
                        <th role="columnheader" scope="col" class="r">{t.remaining()}</th>
                    </tr>
                </thead>
                <tbody role="rowgroup">{projects.into_iter().map(row).collect_view()}</tbody>
            </table>
        </div>
    }
}

#[component]
fn ProjectRow(tenant: String, project: Project) -> impl IntoView {
    let t = language();
    let numbers = project.quota;
    let bar = Figures::read(&numbers, Amount::ZERO).ok();
    let bar = bar.map(|figures| view! { <Gate figures=figures about=project.name.clone() size=Size::Mini/> });
    let limit = |text: Option<&api_types::Decimal>| match text {
        Some(text) => format::short(text.as_str()).into_any(),
        None => view! { <span class="faint">{t.no_limit()}</span> }.into_any(),
    };
    let (total, remaining) = (limit(numbers.total.as_ref()), limit(numbers.remaining.as_ref()));
    let (tone, state) = match project.status {
        ProjectStatus::Active => (Tone::Ok, t.active()),
        ProjectStatus::Archived => (Tone::Neutral, t.archived()),
    };
    let per = project.budget.map(|budget| t.amount_per(&format::short(budget.amount.as_str()), budget.period));
    view! {
        <tr role="row" class={if project.status == ProjectStatus::Archived { "off" } else { "" }}>
            <th role="rowheader" scope="row" class="full">
                <a class="name" href=format!("/tenants/{tenant}/projects/{}", project.id)>{project.name}</a>
                <span class="under">{per}</span>
            </th>
            <td role="cell" class="corner"><Badge tone=tone text=state/></td>
            <td role="cell" class="bar-cell full">{bar}</td>
            <td role="cell" class="r" data-label=t.total()>{total}</td>
            <td role="cell" class="r" data-label=t.used()>{format::short(numbers.used.as_str())}</td>
            <td role="cell" class="r" data-label=t.in_flight()>{format::short(numbers.frozen.as_str())}</td>
            <td role="cell" class="r" data-label=t.remaining()>{remaining}</td>
        </tr>
    }
}
