//! The time line, and the same as a table.

use api_types::request::Request;
use leptos::prelude::*;

use super::timing::{self, Stretch, Timing, What};
use crate::components::card::Card;
use crate::components::table::{Column, Row, Table, named, text};
use crate::components::time_line::{Lane, TimeLine};
use crate::components::written;
use crate::format;
use crate::i18n::{Language, language};

/// When what happened.
#[component]
pub fn StepsCard(
    /// The request.
    request: Request,
) -> impl IntoView {
    let t = language();
    let timing = timing::of(&request);
    let lanes: Vec<Lane> = timing.stretches.iter().map(|stretch| lane(t, stretch)).collect();
    let words: Vec<String> =
        lanes.iter().map(|lane| format!("{} {}", lane.words, format::seconds(lane.to - lane.from))).collect();
    let label = t.time_line_words(&words.join(", "));
    let (rows, whole) = (rows(t, timing.clone(), &request), timing.whole_ms);
    let columns = vec![Column::name(t.what()), Column::number(t.at_time()), Column::text(t.detail())];
    view! {
        <Card id="time" title=t.time_line()>
            {(!lanes.is_empty()).then(|| view! { <div class="card-body"><TimeLine lanes=lanes whole=whole label=label/></div> })}
            <Table caption=t.step_by_step() columns=columns rows=rows/>
        </Card>
    }
}

fn lane(t: Language, (from, to, what): &(i64, i64, Stretch)) -> Lane {
    let (words, class) = match what {
        Stretch::Admission => (t.admission().to_owned(), ""),
        Stretch::Attempt(number, true) => (t.attempt(*number), "ok"),
        Stretch::Attempt(number, false) => (t.attempt(*number), "bad"),
        Stretch::Waiting => (t.waiting().to_owned(), "wait"),
        Stretch::Streaming => (t.streaming().to_owned(), "ok"),
        Stretch::Settling => (t.settling().to_owned(), ""),
    };
    Lane { words, from: *from, to: *to, class }
}

fn rows(t: Language, timing: Timing, request: &Request) -> Vec<Row> {
    let row = |(at, what): (i64, What)| {
        let class = if matches!(&what, What::Attempt(_, attempt) if attempt.error.is_some()) { "warn" } else { "" };
        let (name, detail) = told(t, what, request);
        Row { class, cells: vec![named(name, None, text("")), text(format!("+{}", format::seconds(at))), text(detail)] }
    };
    timing.steps.into_iter().map(row).collect()
}

fn told(t: Language, what: What, request: &Request) -> (String, String) {
    match what {
        What::Received => (t.received().to_owned(), request.model.clone()),
        What::Frozen => (t.quota_set_aside().to_owned(), format::exact(request.estimate.as_str())),
        What::FirstByte => (t.first_byte().to_owned(), String::new()),
        What::Ended => (t.answer_ended().to_owned(), t.extensions(request.extensions)),
        What::Recorded => {
            let at = written::clock(request.recorded_at, t);
            (t.recorded().to_owned(), format!("{} · {at}", format::exact(request.charge.as_str())))
        }
        What::Attempt(number, attempt) => {
            let status = attempt.status.map_or_else(|| t.no_reply().to_owned(), |status| status.to_string());
            let target = format::short_id(&attempt.target.to_string());
            let why = attempt.error.map(|why| format!(" · {why}")).unwrap_or_default();
            (t.attempt(number), format!("{target} · {status}{why}"))
        }
    }
}
