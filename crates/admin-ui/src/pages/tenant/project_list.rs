//! Project budgets beside the tenant's own numbers.

use api_types::Page;
use api_types::project::Project;
use domain::Amount;
use leptos::prelude::*;

use crate::components::gate::{Gate, Size};
use crate::components::icon::Icon;
use crate::components::live::live;
use crate::components::states::{Empty, Failed, Loading};
use crate::fetch::Fetch;
use crate::figures::Figures;
use crate::format;
use crate::i18n::language;
use crate::session::Session;

/// Shown here; the rest is on the projects' own page.
const SHOWN: usize = 5;

/// The first projects with their bars.
#[component]
pub fn ProjectBudgets(
    /// Whose.
    tenant: String,
    /// The projects.
    projects: Fetch<Page<Project>>,
    /// A project is to be created.
    on_create: Callback<()>,
) -> impl IntoView {
    let t = language();
    let session = expect_context::<Session>();
    let all = format!("/tenants/{tenant}/projects");
    let tenant = StoredValue::new(tenant);
    let body = live(move || {
        match (projects.data.get(), projects.failure.get()) {
        (Some(page), _) if !page.items.is_empty() => {
            let one = |project| view! { <ProjectItem tenant=tenant.get_value() project=project/> };
            view! { <ul class="items">{page.items.into_iter().take(SHOWN).map(one).collect_view()}</ul> }.into_any()
        }
        (_, Some(failure)) => view! { <Failed failure=failure on_again=Callback::new(move |()| projects.again())/> }.into_any(),
        (Some(_), None) => view! {
            <Empty icon="playground" title=t.no_projects() hint=t.no_projects_hint()>
                {session.may_own().then(|| view! { <button class="btn" type="button" on:click=move |_| on_create.run(())><Icon name="plus"/>{t.new_project()}</button> })}
            </Empty>
        }
        .into_any(),
        (None, None) => view! { <Loading/> }.into_any(),
    }
    });
    view! {
        <section class="card" aria-labelledby="h-projects">
            <div class="card-head"><h2 id="h-projects">{t.project_budgets()}</h2><div class="end"><a href=all>{t.projects()}</a></div></div>
            {body}
        </section>
    }
}

#[component]
fn ProjectItem(tenant: String, project: Project) -> impl IntoView {
    let t = language();
    let numbers = project.quota;
    let figures = Figures::read(&numbers, Amount::ZERO).ok();
    let bar = figures.map(|figures| view! { <Gate figures=figures about=project.name.clone() size=Size::Mini/> });
    let total = match &numbers.total {
        Some(total) => view! { <span class="faint">{t.total()}</span> " " {format::short(total.as_str())} }.into_any(),
        None => t.no_limit().into_any(),
    };
    let remaining =
        numbers.remaining.as_ref().map_or_else(|| "–".to_owned(), |remaining| format::short(remaining.as_str()));
    view! {
        <li>
            <div class="spread">
                <a class="quiet strong" href=format!("/tenants/{tenant}/projects/{}", project.id)>{project.name}</a>
                <span class="num tiny">{total}</span>
            </div>
            {bar}
            <dl class="four">
                <div><dt>{t.used()}</dt><dd>{format::short(numbers.used.as_str())}</dd></div>
                <div><dt>{t.in_flight()}</dt><dd>{format::short(numbers.frozen.as_str())}</dd></div>
                <div><dt>{t.remaining()}</dt><dd>{remaining}</dd></div>
            </dl>
        </li>
    }
}
