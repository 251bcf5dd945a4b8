//! When an attempt is made again.

use std::str::FromStr;
use std::time::Duration;

use store::webhook_deliveries::Next;

/// The pauses before each attempt; the first is made at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schedule(Vec<Duration>);

impl Schedule {
    /// What comes after a failed attempt that `tries` others preceded: a pause and up to a tenth more, so that what failed
    /// together is not tried together.
    #[must_use]
    pub fn after(&self, tries: u16) -> Next {
        let Some(pause) = self.0.get(usize::from(tries) + 1) else { return Next::Failed };
        let ms = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX / 2);
        Next::Again(ms + rand::random_range(0..=ms / 10))
    }
}

impl FromStr for Schedule {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let pauses: Vec<Duration> = text.split(',').map(duration).collect::<Result<_, _>>()?;
        if pauses.first() != Some(&Duration::ZERO) || pauses.len() > 100 {
            return Err("the schedule has 1 to 100 pauses, of which the first is 0, such as 0,5s,5m,2h".to_owned());
        }
        Ok(Self(pauses))
    }
}

/// A duration such as `0`, `500ms`, `5s`, `30m`, `2h` or `5d`.
///
/// # Errors
/// Says what one looks like.
pub fn duration(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let wrong = || format!("`{text}` is no duration such as 500ms, 5s, 30m, 2h or 5d");
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let number: u32 = number.parse().map_err(|_| wrong())?;
    let unit_ms = match unit {
        "" if number == 0 => 1,
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return Err(wrong()),
    };
    Ok(Duration::from_millis(u64::from(number) * unit_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_by_a_tenth_at_most_and_end() {
        let schedule: Schedule = "0, 5s,5m".parse().unwrap();
        for _ in 0..100 {
            assert!(matches!(schedule.after(0), Next::Again(5000..=5500)));
            assert!(matches!(schedule.after(1), Next::Again(300_000..=330_000)));
        }
        assert_eq!(schedule.after(2), Next::Failed);
        assert_eq!("0".parse::<Schedule>().unwrap().after(0), Next::Failed);
        for wrong in ["", "5s", "0,5", "0,5x", "0,-5s", "0,,5s", "0,99999999999s"] {
            assert!(wrong.parse::<Schedule>().is_err(), "{wrong}");
        }
        assert_eq!(duration("5d"), Ok(Duration::from_secs(432_000)));
    }
}
