//! Reading from the API into signals: old data stays on the page while new data is under way, and a late answer to an old
//! question is thrown away.

use std::any::Any;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::Failure;
use crate::browser;
use crate::session::Session;

/// An answer of whatever type. Signals and the work around them exist once for all types of answers: compiled anew for each,
/// they would be a fifth of what a browser has to load.
type Held = Arc<dyn Any + Send + Sync>;
type Answer = Pin<Box<dyn Future<Output = Result<Held, Failure>>>>;

/// The last good answer.
pub struct Data<T> {
    held: RwSignal<Option<Held>>,
    kind: PhantomData<fn() -> T>,
}

impl<T> Clone for Data<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Data<T> {}

impl<T: Send + Sync + 'static> Data<T> {
    /// The answer; tracks.
    #[must_use]
    pub fn read(self) -> Option<Arc<T>> {
        self.held.get()?.downcast().ok()
    }

    /// The answer as it is now.
    #[must_use]
    pub fn read_untracked(self) -> Option<Arc<T>> {
        self.held.get_untracked()?.downcast().ok()
    }

    /// A copy of the answer; tracks.
    #[must_use]
    pub fn get(self) -> Option<T>
    where
        T: Clone,
    {
        self.read().map(Arc::unwrap_or_clone)
    }

    /// Forgets the answer: what shows it is built anew by the next one.
    pub fn clear(self) {
        self.held.set(None);
    }

    /// Another answer, such as the reply to a change.
    pub fn set(self, data: T) {
        self.held.set(Some(Arc::new(data)));
    }
}

/// Something read from the API.
pub struct Fetch<T> {
    /// The last good answer.
    pub data: Data<T>,
    /// Why the last try failed; the data may still be there, older.
    pub failure: RwSignal<Option<Failure>>,
    /// Counts what was asked for; raised to ask again.
    round: RwSignal<u64>,
}

impl<T> Clone for Fetch<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Fetch<T> {}

impl<T> Fetch<T> {
    /// Asks again, keeping the data meanwhile.
    pub fn again(self) {
        self.round.update(|round| *round += 1);
    }

    /// Asks again every `every` while the page can be seen.
    pub fn poll(self, every: Duration) {
        let round = self.round;
        let ask = move || {
            if !browser::is_hidden() {
                round.update(|round| *round += 1);
            }
        };
        let handle = set_interval_with_handle(ask, every);
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
    A: Fn(K) -> F + 'static,
    F: Future<Output = Result<T, Failure>> + 'static,
{
    let key = Memo::new(move |_| about());
    let call = move || -> Answer {
        let answer = ask(key.get());
        Box::pin(async move { answer.await.map(|data| -> Held { Arc::new(data) }) })
    };
    let data = Data { held: RwSignal::new(None), kind: PhantomData };
    let (failure, round) = (RwSignal::new(None), RwSignal::new(0));
    keep_asking(data.held, failure, round, Box::new(call));
    Fetch { data, failure, round }
}

/// Asks now, whenever what `call` reads changes, and on every new round.
fn keep_asking(
    held: RwSignal<Option<Held>>,
    failure: RwSignal<Option<Failure>>,
    round: RwSignal<u64>,
    call: Box<dyn Fn() -> Answer>,
) {
    let session = expect_context::<Session>();
    let sequence = StoredValue::new(0_u64);
    Effect::new(move |before: Option<u64>| {
        let round = round.get();
        // Not another round: the question is another one, and what was said about the old one is void.
        if before == Some(round) {
            failure.set(None);
        }
        let number = sequence.get_value() + 1;
        sequence.set_value(number);
        let answer = call();
        spawn_local(async move {
            let answer = answer.await;
            // Gone from the page, or asked again since: nobody waits for this answer.
            if sequence.try_get_value() != Some(number) {
                return;
            }
            match answer {
                Ok(data) => {
                    failure.set(None);
                    held.set(Some(data));
                }
                Err(why) => {
                    session.note(&why);
                    failure.set(Some(why));
                }
            }
        });
        round
    });
}
