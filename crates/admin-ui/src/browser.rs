//! The few things asked of the browser itself, each with what to do where it refuses.

use js_sys::{Array, Function, Promise, Reflect};
use leptos::prelude::{document, window, window_event_listener_untyped};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast as _, JsValue};
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use crate::json;

/// Remembers a setting for this browser. Where storage is forbidden, the setting lasts until the page is left.
pub fn store(name: &str, value: Option<&str>) {
    let Ok(Some(storage)) = window().local_storage() else { return };
    // A full or forbidden storage loses only the convenience.
    let _ = match value {
        Some(value) => storage.set_item(name, value),
        None => storage.remove_item(name),
    };
}

/// Reads a remembered setting.
#[must_use]
pub fn stored(name: &str) -> Option<String> {
    window().local_storage().ok().flatten()?.get_item(name).ok().flatten()
}

/// Sets or removes an attribute of `<html>`.
pub fn set_root_attribute(name: &str, value: Option<&str>) {
    let Some(root) = document().document_element() else { return };
    let _ = match value {
        Some(value) => root.set_attribute(name, value),
        None => root.remove_attribute(name),
    };
}

/// The language the page was opened with, decided by `head.js` before the first paint.
#[must_use]
pub fn root_language() -> String {
    document().document_element().and_then(|root| root.get_attribute("lang")).unwrap_or_default()
}

/// Where applications reach the gateway: as the admin API was told, else the gateway's usual port beside the console.
#[must_use]
pub fn gateway_url() -> String {
    let told = document()
        .query_selector("meta[name=tollgate-gateway]")
        .ok()
        .flatten()
        .and_then(|meta| meta.get_attribute("content"))
        .filter(|url| !url.is_empty());
    told.unwrap_or_else(|| {
        let location = window().location();
        let protocol = location.protocol().unwrap_or_else(|_| "http:".to_owned());
        let host = location.hostname().unwrap_or_else(|_| "127.0.0.1".to_owned());
        format!("{protocol}//{host}:8080")
    })
}

/// Sets the title of the window: the page, then the product.
pub fn set_title(page: &str) {
    document().set_title(&if page.is_empty() { "Tollgate".to_owned() } else { format!("{page} · Tollgate") });
}

/// True while nobody can see the page: polling rests.
#[must_use]
pub fn is_hidden() -> bool {
    document().hidden()
}

/// 128 random bits as 32 hexadecimal digits, for `Idempotency-Key`; `None` where the browser has no randomness.
#[must_use]
pub fn random_token() -> Option<String> {
    let mut bytes = [0_u8; 16];
    window().crypto().ok()?.get_random_values_with_u8_array(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Puts a text on the clipboard; false where the browser does not allow it.
pub async fn copy(text: &str) -> bool {
    let clipboard = Reflect::get(&window().navigator(), &"clipboard".into()).unwrap_or(JsValue::UNDEFINED);
    // Undefined outside secure contexts, such as plain http to another machine.
    if clipboard.is_undefined() {
        return false;
    }
    let promise = window().navigator().clipboard().write_text(text);
    JsFuture::from(promise).await.is_ok()
}

/// Does `work` while no other tab of this console does anything under the same name. Where the browser has no such locks
/// (plain http to another machine), it is done at once.
pub async fn in_turn(name: &str, work: impl Future<Output = bool> + 'static) -> bool {
    let locks = Reflect::get(&window().navigator(), &"locks".into()).unwrap_or(JsValue::UNDEFINED);
    let Ok(request) = Reflect::get(&locks, &"request".into()).and_then(|request| request.dyn_into::<Function>()) else {
        return work.await;
    };
    let task = Closure::once_into_js(move || future_to_promise(async move { Ok(JsValue::from_bool(work.await)) }));
    let Ok(turn) = request.call2(&locks, &name.into(), &task) else { return false };
    JsFuture::from(Promise::resolve(&turn)).await.is_ok_and(|done| done.is_truthy())
}

/// The IANA names of time zones this browser knows, `UTC` first.
#[must_use]
pub fn time_zones() -> Vec<String> {
    let mut zones = vec!["UTC".to_owned()];
    let listed = Reflect::get(&js_sys::global(), &"Intl".into())
        .and_then(|intl| Reflect::get(&intl, &"supportedValuesOf".into()))
        .ok()
        .and_then(|function| function.dyn_into::<Function>().ok())
        .and_then(|function| function.call1(&JsValue::UNDEFINED, &"timeZone".into()).ok());
    if let Some(listed) = listed {
        zones.extend(Array::from(&listed).iter().filter_map(|zone| zone.as_string()).filter(|zone| zone != "UTC"));
    }
    zones
}

/// This browser's own time zone.
#[must_use]
pub fn own_time_zone() -> String {
    let options = js_sys::Intl::DateTimeFormat::default().resolved_options();
    Reflect::get(&options, &"timeZone".into())
        .ok()
        .and_then(|zone| zone.as_string())
        .unwrap_or_else(|| "UTC".to_owned())
}

/// An instant in RFC 3339 written for people, by the browser's calendar: `parts` are options of `toLocaleString`, such as
/// `[("hour", "2-digit")]`; `zone` an IANA name, or this browser's own.
#[must_use]
pub fn written(instant: &str, language: &str, zone: Option<&str>, parts: &[(&str, &str)]) -> String {
    let options = js_sys::Object::new();
    let zone = zone.map(|zone| ("timeZone", zone));
    for (name, value) in parts.iter().copied().chain(zone) {
        let _ = Reflect::set(&options, &name.into(), &value.into()); // a plain object takes every name
    }
    let date = js_sys::Date::new(&instant.into());
    date.to_locale_string(language, &options).into()
}

/// What a `datetime-local` field holds, in this browser's zone, as RFC 3339 in UTC; `None` where it holds no instant.
#[must_use]
pub fn instant_of_local(text: &str) -> Option<String> {
    let date = js_sys::Date::new(&text.into());
    if text.is_empty() || date.get_time().is_nan() {
        return None;
    }
    date.to_iso_string().as_string()
}

/// An instant in RFC 3339 as a `datetime-local` field holds it, in this browser's zone; empty where it is none.
#[must_use]
pub fn local_of_instant(text: &str) -> String {
    const MINUTE_MS: f64 = 60_000.0;
    let date = js_sys::Date::new(&text.into());
    if text.is_empty() || date.get_time().is_nan() {
        return String::new();
    }
    #[expect(clippy::float_arithmetic, reason = "JavaScript's instants are floats; nothing here is money")]
    let shifted = date.get_time() - date.get_timezone_offset() * MINUTE_MS;
    let local = js_sys::Date::new(&shifted.into());
    local.to_iso_string().as_string().and_then(|text| text.get(..16).map(str::to_owned)).unwrap_or_default()
}

/// An instant in RFC 3339; `None` where it is none.
#[must_use]
pub fn instant(text: &str) -> Option<api_types::Timestamp> {
    json::reread(&serde_json::Value::from(text))
}

/// The present instant by this browser's clock.
#[must_use]
pub fn now() -> Option<api_types::Timestamp> {
    js_sys::Date::new_0().to_iso_string().as_string().and_then(|text| instant(&text))
}

/// The present instant in milliseconds since 1970, exactly.
#[must_use]
pub fn precise_ms() -> i64 {
    now().and_then(|at| i64::try_from(at.instant().unix_timestamp_nanos() / 1_000_000).ok()).unwrap_or(0)
}

/// Lets some time pass.
pub async fn wait(time: std::time::Duration) {
    let ms = i32::try_from(time.as_millis()).unwrap_or(i32::MAX);
    let promise = Promise::new(&mut |resolve, _| {
        // Without a timer nothing is waited for.
        if window().set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, ms).is_err() {
            let _ = resolve.call0(&JsValue::UNDEFINED);
        }
    });
    let _ = JsFuture::from(promise).await; // never refused
}

/// The text of the file that a person chose; `None` where it can't be read.
pub async fn chosen_file(input: &web_sys::HtmlInputElement) -> Option<String> {
    let files = Reflect::get(input, &"files".into()).ok()?;
    let file = Reflect::get_u32(&files, 0).ok().filter(JsValue::is_object)?;
    let text = Reflect::get(&file, &"text".into()).ok()?.dyn_into::<Function>().ok()?.call0(&file).ok()?;
    JsFuture::from(Promise::resolve(&text)).await.ok()?.as_string()
}

/// The same in seconds, as milliseconds.
#[must_use]
pub fn now_ms() -> i64 {
    now().map_or(0, |at| at.instant().unix_timestamp().saturating_mul(1000))
}

/// The present address: path, and query without its question mark.
#[must_use]
pub fn address() -> (String, String) {
    let location = window().location();
    let query = location.search().unwrap_or_default();
    let query = query.strip_prefix('?').unwrap_or(&query).to_owned();
    (location.pathname().unwrap_or_else(|_| "/".to_owned()), query)
}

/// What stands behind `#`: the token of a mail's link. It is taken out of the address and its history, where it would stay
/// for whoever sits down next.
#[must_use]
pub fn take_fragment() -> String {
    let location = window().location();
    let fragment = location.hash().unwrap_or_default();
    if !fragment.is_empty() {
        push_address(&location.pathname().unwrap_or_else(|_| "/".to_owned()), true);
    }
    fragment.trim_start_matches('#').to_owned()
}

/// Puts another address into the browser's history, or in place of the present one.
pub fn push_address(address: &str, replace: bool) {
    let Ok(history) = window().history() else { return };
    // Refused only for another origin, and an address of ours has none.
    let _ = if replace {
        history.replace_state_with_url(&JsValue::NULL, "", Some(address))
    } else {
        history.push_state_with_url(&JsValue::NULL, "", Some(address))
    };
}

/// Calls `look` when the person goes back or forward.
pub fn on_address(look: impl Fn() + 'static) {
    let _ = window_event_listener_untyped("popstate", move |_| look());
}

/// Calls `go` with the address of a link of ours that is followed in this window.
pub fn on_link(go: impl Fn(String) + 'static) {
    let _ = window_event_listener_untyped("click", move |event| {
        if let Some(address) = followed(&event) {
            event.prevent_default();
            go(address);
        }
    });
}

/// The address of the link that a plain click follows; `None` where it is the browser's to follow: another window, another
/// site, or a place on the same page.
fn followed(event: &web_sys::Event) -> Option<String> {
    let click = event.dyn_ref::<web_sys::MouseEvent>()?;
    let held = click.ctrl_key() || click.meta_key() || click.shift_key() || click.alt_key();
    if event.default_prevented() || click.button() != 0 || held {
        return None;
    }
    let target = event.target()?.dyn_into::<web_sys::Element>().ok()?;
    let link = target.closest("a[href]").ok()??.dyn_into::<web_sys::HtmlAnchorElement>().ok()?;
    // A file to be saved is no page of ours.
    if link.has_attribute("download") {
        return None;
    }
    let ours =
        link.target().is_empty() && link.hash().is_empty() && link.origin() == window().location().origin().ok()?;
    ours.then(|| format!("{}{}", link.pathname(), link.search()))
}

/// Scrolls to the top of the page.
pub fn to_top() {
    window().scroll_to_with_x_and_y(0.0, 0.0);
}

/// A text as it stands in an address.
#[must_use]
pub fn encoded(text: &str) -> String {
    js_sys::encode_uri_component(text).into()
}

/// A text out of an address; as it stands there where it makes no sense.
#[must_use]
pub fn decoded(text: &str) -> String {
    js_sys::decode_uri_component(text).map_or_else(|_| text.to_owned(), Into::into)
}
