//! A new upstream, and a changed one.

use api_types::upstream::{ChangeUpstream, CreateUpstream, Upstream, UpstreamKind};
use leptos::prelude::*;

use crate::api::upstreams;
use crate::components::field::{SelectField, TextField};
use crate::components::toasts::{Toast, Toasts};
use crate::i18n::language;
use crate::pages::form::{Form, Whole, filled, typed};
use crate::pages::form_dialog::FormDialog;

/// Adds an upstream, or changes the given one. A key that is not typed stays as it is.
#[component]
pub fn UpstreamDialog(
    /// The one to be changed.
    #[prop(optional)]
    upstream: Option<Upstream>,
    /// It is done or unwanted.
    on_close: Callback<()>,
) -> impl IntoView {
    let t = language();
    let toasts = expect_context::<Toasts>();
    let form = Form::new();
    let before = upstream.as_ref();
    let is_new = before.is_none();
    let name = typed(before.map(|upstream| upstream.name.clone()).unwrap_or_default());
    let base_url = typed(before.map(|upstream| upstream.base_url.clone()).unwrap_or_default());
    let connect = typed(before.map_or(5_000, |upstream| upstream.connect_timeout_ms).to_string());
    let read = typed(before.map_or(120_000, |upstream| upstream.read_timeout_ms).to_string());
    let (kind, api_key) = (typed(UpstreamKind::Openai.as_str()), typed(""));
    let existing = StoredValue::new(before.map(|upstream| (upstream.id.to_string(), upstream.version)));
    let submit = Callback::new(move |()| {
        let mut whole = Whole::default();
        let connect_timeout_ms = whole.read("connect_timeout_ms", connect);
        let read_timeout_ms = whole.read("read_timeout_ms", read);
        if !whole.fits(form) {
            return;
        }
        let (name, base_url) = (name.get_untracked().trim().to_owned(), base_url.get_untracked().trim().to_owned());
        let key = filled(api_key);
        let saved = move |_| {
            toasts.show(Toast::ok(t.upstream_saved().to_owned(), None));
            on_close.run(());
        };
        match existing.get_value() {
            Some((id, version)) => {
                let body = ChangeUpstream {
                    name: Some(name),
                    base_url: Some(base_url),
                    api_key: key.map(Some),
                    connect_timeout_ms,
                    read_timeout_ms,
                };
                form.send(async move { upstreams::change(&id, version, &body).await }, saved);
            }
            None => {
                let kind = kind.get_untracked().parse().unwrap_or(UpstreamKind::Openai);
                let body = CreateUpstream { name, kind, base_url, api_key: key, connect_timeout_ms, read_timeout_ms };
                form.send(async move { upstreams::create(&body).await }, saved);
            }
        }
    });
    let failure = form.failure;
    let kinds = UpstreamKind::ALL.iter().map(|kind| (kind.to_string(), kind.to_string())).collect::<Vec<_>>();
    let choice =
        is_new.then(|| view! { <SelectField name="kind" label=t.speaks() choices=kinds value=kind failure=failure/> });
    let hint = if is_new { t.provider_key_hint() } else { t.provider_key_keep() };
    let (title, action) =
        if is_new { (t.new_upstream(), t.create_upstream()) } else { (t.change_upstream(), t.save()) };
    view! {
        <FormDialog title=title form=form action=action.to_owned() on_submit=submit on_close=on_close>
            <div class="form-grid">
                <TextField name="name" label=t.name() value=name failure=failure autofocus=true/>
                {choice}
            </div>
            <TextField name="base_url" label=t.base_url() hint=t.base_url_hint() value=base_url failure=failure/>
            <TextField name="api_key" label=t.provider_key() hint=hint value=api_key failure=failure kind="password" autocomplete="new-password"/>
            <div class="form-grid">
                <TextField name="connect_timeout_ms" label=t.connect_timeout() value=connect failure=failure/>
                <TextField name="read_timeout_ms" label=t.read_timeout() value=read failure=failure/>
            </div>
        </FormDialog>
    }
}
