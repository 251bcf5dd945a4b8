//! The form: mail, what new tenants get, how long things are kept.

use api_types::platform::{ChangeDefaults, ChangePlatformSettings, ChangeRetention, PlatformSettings};
use leptos::prelude::*;

use crate::api::{Failure, platform};
use crate::browser;
use crate::components::card::Card;
use crate::components::field::{SelectField, TextField};
use crate::components::live::live;
use crate::components::notice::FormFailure;
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, Whole, filled, lines, typed};
use crate::session::Session;

/// The fields as they are typed.
#[derive(Clone, Copy)]
struct Typed {
    mail_from: RwSignal<String>,
    zone: RwSignal<String>,
    thresholds: RwSignal<String>,
    records: RwSignal<String>,
    events: RwSignal<String>,
    snapshots: RwSignal<String>,
}

impl Typed {
    fn of(settings: &PlatformSettings) -> Self {
        let days = |days: Option<i32>| typed(days.map(|days| days.to_string()).unwrap_or_default());
        let thresholds: Vec<String> = settings.defaults.thresholds.iter().map(u32::to_string).collect();
        Self {
            mail_from: typed(settings.mail_from.clone().unwrap_or_default()),
            zone: typed(settings.defaults.time_zone.clone()),
            thresholds: typed(thresholds.join(", ")),
            records: days(settings.retention.usage_records_days),
            events: days(settings.retention.events_days),
            snapshots: days(settings.retention.snapshots_days),
        }
    }

    /// As the API takes it; `None` where a number is none.
    fn read(self, form: Form) -> Option<ChangePlatformSettings> {
        let mut whole = Whole::default();
        let words = lines(self.thresholds).unwrap_or_default();
        let thresholds: Vec<u32> = words.iter().filter_map(|word| word.parse().ok()).collect();
        if thresholds.len() < words.len() {
            whole.refuse("defaults.thresholds", "not_number");
        }
        let change = ChangePlatformSettings {
            mail_from: Some(filled(self.mail_from)),
            defaults: Some(ChangeDefaults { time_zone: filled(self.zone), thresholds: Some(thresholds) }),
            retention: Some(ChangeRetention {
                usage_records_days: Some(whole.read("retention.usage_records_days", self.records)),
                events_days: Some(whole.read("retention.events_days", self.events)),
                snapshots_days: Some(whole.read("retention.snapshots_days", self.snapshots)),
            }),
        };
        whole.fits(form).then_some(change)
    }
}

/// The form.
#[component]
pub fn SettingsForm(
    /// As they are.
    settings: PlatformSettings,
    /// As they are after a change.
    on_changed: Callback<PlatformSettings>,
    /// Somebody else was quicker: they are to be read again.
    on_again: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let session = expect_context::<Session>();
    let form = Form::new();
    let fields = Typed::of(&settings);
    let version = settings.version;
    let submit = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let Some(change) = fields.read(form) else { return };
        form.send(async move { platform::change_settings(version, &change).await }, move |fresh| {
            toasts.show(Toast::ok(t.settings_saved().to_owned(), None));
            on_changed.run(fresh);
        });
    };
    let failure = form.failure;
    let zones = browser::time_zones().into_iter().map(|zone| (zone.clone(), zone)).collect::<Vec<_>>();
    let save = live(move || {
        if !session.is_owner() {
            return view! { <p class="small muted">{t.owner_only()}</p> }.into_any();
        }
        let stale = failure.read().as_ref().and_then(Failure::code) == Some("precondition_failed");
        view! {
            <button class="btn primary" type="submit" aria-busy=move || form.busy.get().then_some("true")>{t.save()}</button>
            {stale.then(|| view! { <button class="btn" type="button" on:click=move |_| on_again.run(())>{t.read_again()}</button> })}
        }
        .into_any()
    });
    view! {
        <form class="stack" novalidate on:submit=submit>
            <FormFailure failure=failure/>
            <Card id="mail" title=t.mail()>
                <div class="card-body form-grid">
                    <TextField name="mail_from" label=t.mail_from() hint=t.mail_from_hint() value=fields.mail_from failure=failure/>
                </div>
            </Card>
            <Card id="defaults" title=t.new_tenants()>
                <div class="card-body form-grid">
                    <SelectField name="defaults.time_zone" label=t.time_zone() choices=zones value=fields.zone failure=failure/>
                    <TextField name="defaults.thresholds" label=t.thresholds() hint=t.thresholds_hint() value=fields.thresholds failure=failure/>
                </div>
            </Card>
            <Card id="retention" title=t.retention()>
                <p class="card-note small muted">{t.retention_hint()}</p>
                <div class="card-body form-grid">
                    <TextField name="retention.usage_records_days" label=t.keep_records() hint=t.days_or_ever() value=fields.records failure=failure/>
                    <TextField name="retention.events_days" label=t.keep_events() hint=t.days_or_ever() value=fields.events failure=failure/>
                    <TextField name="retention.snapshots_days" label=t.keep_snapshots() hint=t.days_or_ever() value=fields.snapshots failure=failure/>
                </div>
            </Card>
            <div class="form-foot">{save}</div>
        </form>
    }
}
