//! Reading from the API into signals: old data stays on the page while new data is under way, and a late answer to an old
//! question is thrown away.

use std::future::Future;
use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::Failure;
use crate::browser;
use crate::session::Session;

/// Something read from the API.
pub struct Fetch<T: Send + Sync + 'static> {
    /// The last good answer.
    pub data: RwSignal<Option<T>>,
    /// Why the last try failed; the data may still be there, older.
    pub failure: RwSignal<Option<Failure>>,
    /// Counts what was asked for; raised to ask again.
    round: RwSignal<u64>,
}

impl<T: Send + Sync + 'static> Clone for Fetch<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Send + Sync + 'static> Copy for Fetch<T> {}

impl<T: Send + Sync + 'static> Fetch<T> {
    /// Asks again, keeping the data meanwhile.
    pub fn again(self) {
        self.round.update(|round| *round += 1);
    }

    /// Asks again every `every` while the page can be seen.
    pub fn poll(self, every: Duration) {
        let handle = set_interval_with_handle(
            move || {
                if !browser::is_hidden() {
                    self.again();
                }
            },
            every,
        );
        // Without a timer the page shows what it has, with its age, and can be asked again by hand.
        if let Ok(handle) = handle {
            on_cleanup(move || handle.clear());
        }
    }
}

/// Calls `ask` with what `about` returns: now, whenever that changes, and on [`Fetch::again`].
pub fn fetch<K, T, A, F>(about: impl Fn() -> K + Send + Sync + 'static, ask: A) -> Fetch<T>
where
    K: PartialEq + Clone + Send + Sync + 'static,
    T: Send + Sync + 'static,
    A: Fn(K) -> F + Clone + 'static,
    F: Future<Output = Result<T, Failure>> + 'static,
{
    let session = expect_context::<Session>();
    let fetch = Fetch { data: RwSignal::new(None), failure: RwSignal::new(None), round: RwSignal::new(0) };
    let key = Memo::new(move |_| about());
    let sequence = StoredValue::new(0_u64);
    Effect::new(move |before: Option<K>| {
        fetch.round.track();
        let key = key.get();
        if before.is_some_and(|before| before != key) {
            fetch.failure.set(None);
        }
        let number = sequence.get_value() + 1;
        sequence.set_value(number);
        let answer = ask(key.clone());
        spawn_local(async move {
            let answer = answer.await;
            // Gone from the page, or asked again since: nobody waits for this answer.
            if sequence.try_get_value() != Some(number) {
                return;
            }
            match answer {
                Ok(data) => {
                    fetch.failure.set(None);
                    fetch.data.set(Some(data));
                }
                Err(failure) => {
                    session.note(&failure);
                    fetch.failure.set(Some(failure));
                }
            }
        });
        key
    });
    fetch
}
