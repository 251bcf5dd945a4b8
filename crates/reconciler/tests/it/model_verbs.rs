//! What happens in the model's random sequences.

use proptest::prelude::*;

#[derive(Debug, Clone)]
pub enum Verb {
    Freeze {
        want: i64,
        need: i64,
        twice: bool,
    },
    Extend {
        which: usize,
        want: i64,
        need: i64,
        twice: bool,
    },
    Beat {
        which: usize,
        progress: i64,
    },
    /// The charge as percent of the freeze: above 100 is an overrun.
    Finish {
        which: usize,
        percent: i64,
        roll_back: bool,
    },
    Record {
        which: usize,
        twice: bool,
    },
    Confirm {
        which: usize,
        twice: bool,
    },
    TopUp {
        units: i64,
    },
    /// A grant ends, for whoever is not running yet, and another one comes.
    End {
        which: usize,
        units: i64,
    },
    /// All steps of a decrease.
    Decrease {
        units: i64,
    },
    Push,
    Wipe,
    /// An old copy of a beat of a request that is over.
    GhostBeat {
        which: usize,
    },
}

/// A sequence of them, the common ones more often.
pub fn verbs() -> impl Strategy<Value = Vec<Verb>> {
    let which = 0..8_usize;
    let verb = prop_oneof![
        6 => (1..400_i64, 1..400_i64, any::<bool>()).prop_map(|(a, b, twice)| Verb::Freeze { want: a.max(b), need: a.min(b), twice }),
        2 => (which.clone(), 1..600_i64, 1..600_i64, any::<bool>())
            .prop_map(|(which, a, b, twice)| Verb::Extend { which, want: a.max(b), need: a.min(b), twice }),
        3 => (which.clone(), 0..100_i64).prop_map(|(which, progress)| Verb::Beat { which, progress }),
        4 => (which.clone(), 0..120_i64, prop::bool::weighted(0.2))
            .prop_map(|(which, percent, roll_back)| Verb::Finish { which, percent, roll_back }),
        4 => (which.clone(), any::<bool>()).prop_map(|(which, twice)| Verb::Record { which, twice }),
        4 => (which.clone(), any::<bool>()).prop_map(|(which, twice)| Verb::Confirm { which, twice }),
        1 => (1..200_i64).prop_map(|units| Verb::TopUp { units }),
        1 => (which.clone(), 1..400_i64).prop_map(|(which, units)| Verb::End { which, units }),
        1 => (1..500_i64).prop_map(|units| Verb::Decrease { units }),
        1 => Just(Verb::Push),
        1 => Just(Verb::Wipe),
        1 => which.prop_map(|which| Verb::GhostBeat { which }),
    ];
    prop::collection::vec(verb, 1..80)
}
