//! The geometry of plots: a scale of round steps, stacked bars, what a hand would draw. Pure arithmetic on integers.

/// What a plot's axis shows: round steps up from zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scale {
    /// The end of the axis.
    pub top: i128,
    /// The steps, zero first.
    pub ticks: Vec<i128>,
}

/// An axis for values up to `most`: three to five steps of 1, 2 or 5 times a power of ten.
#[must_use]
pub fn scale(most: i128) -> Scale {
    const STEPS: i128 = 4;
    let most = most.max(1);
    let mut power = 1_i128;
    loop {
        for step in [power, power * 2, power * 5] {
            if step * STEPS >= most {
                let steps = (most + step - 1) / step;
                return Scale { top: steps * step, ticks: (0..=steps).map(|n| n * step).collect() };
            }
        }
        power *= 10;
    }
}

/// What belongs to one place of the horizontal axis: one value per series, the lowest first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Stack {
    /// The place's name.
    pub words: String,
    /// The values, in the order of the series.
    pub values: Vec<i128>,
}

impl Stack {
    /// All of its values together.
    #[must_use]
    pub fn sum(&self) -> i128 {
        self.values.iter().sum()
    }
}

/// A rectangle: across in hundredths of a percent, down in tenths of a pixel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bar {
    /// Which series.
    pub series: usize,
    /// From the left.
    pub x: i64,
    /// Across.
    pub width: i64,
    /// From the top.
    pub y: i64,
    /// Down.
    pub height: i64,
}

/// Where the axis ends and where it begins, in tenths of a pixel from the top.
pub const TOP: i64 = 80;
/// The base line.
pub const BASE: i64 = 1_880;
/// The plot's width in hundredths of a percent.
const WIDTH: i64 = 10_000;

/// How far from the top a value stands.
#[must_use]
pub fn down(value: i128, scale: &Scale) -> i64 {
    let room = i128::from(BASE - TOP);
    let up = value.clamp(0, scale.top) * room / scale.top.max(1);
    BASE - i64::try_from(up).unwrap_or(0)
}

/// Where the `index`th of `count` places begins, and how wide it is.
#[must_use]
pub fn place(index: usize, count: usize) -> (i64, i64) {
    let at = |n: usize| i64::try_from(n).unwrap_or(0).saturating_mul(WIDTH) / i64::try_from(count.max(1)).unwrap_or(1);
    (at(index), at(index + 1) - at(index))
}

/// The bars of stacks. What is not zero is at least a pixel high.
#[must_use]
pub fn bars(stacks: &[Stack], scale: &Scale) -> Vec<Bar> {
    const THINNEST: i64 = 10;
    let mut bars = Vec::new();
    for (index, stack) in stacks.iter().enumerate() {
        let (from, room) = place(index, stacks.len());
        let gap = room / 6;
        let (mut base, mut below) = (BASE, 0_i128);
        for (series, value) in stack.values.iter().copied().enumerate().filter(|(_, value)| *value > 0) {
            below += value;
            let y = down(below, scale).min(base - THINNEST);
            bars.push(Bar { series, x: from + gap, width: room - 2 * gap, y, height: base - y });
            base = y;
        }
    }
    bars
}

/// A number as an axis writes it, short: `1.5k`, `20M`, `0.002`. `one` is how many units make one.
#[must_use]
pub fn short(value: i128, one: i128) -> String {
    const NAMES: [(u32, &str); 4] = [(12, "T"), (9, "G"), (6, "M"), (3, "k")];
    let one = one.max(1);
    let (sign, value) = if value < 0 { ("\u{2212}", -value) } else { ("", value) };
    for (power, name) in NAMES {
        let unit = one * 10_i128.pow(power);
        if value >= unit {
            return format!("{sign}{}{name}", decimal(value, unit, 1));
        }
    }
    format!("{sign}{}", decimal(value, one, 8))
}

/// A quotient with some decimals at most, cut off; zeros at the end are left out.
fn decimal(value: i128, unit: i128, most: u32) -> String {
    let scale = 10_i128.pow(most);
    let scaled = value * scale / unit;
    let (whole, rest) = (scaled / scale, scaled % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = format!("{rest:0width$}", width = usize::try_from(most).unwrap_or(1));
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_end_at_or_above_the_most_in_round_steps() {
        for (most, top, step) in
            [(0, 1, 1), (3, 3, 1), (7, 8, 2), (90, 100, 50), (100, 100, 50), (401, 600, 200), (81, 100, 50)]
        {
            let scale = scale(most);
            assert_eq!((scale.top, scale.ticks[1]), (top, step), "{most}");
            assert!(scale.ticks.len() <= 6 && scale.top >= most);
        }
    }

    #[test]
    fn stacks_stand_on_the_base_and_on_each_other() {
        let stacks = [Stack { words: "a".into(), values: vec![50, 0, 25] }, Stack::default()];
        let drawn = bars(&stacks, &scale(100));
        assert_eq!(drawn.len(), 2);
        assert_eq!((drawn[0].y + drawn[0].height, drawn[0].y), (BASE, 980));
        assert_eq!((drawn[1].series, drawn[1].y + drawn[1].height), (2, 980));
        assert!(drawn.iter().all(|bar| bar.x >= 0 && bar.x + bar.width <= WIDTH / 2));
    }

    #[test]
    fn what_is_there_can_be_seen() {
        let drawn = bars(&[Stack { words: String::new(), values: vec![1] }], &scale(1_000_000));
        assert_eq!(drawn[0].height, 10);
    }

    #[test]
    fn places_fill_the_width() {
        assert_eq!(place(0, 3), (0, 3_333));
        assert_eq!(place(2, 3), (6_666, 3_334));
        assert_eq!(place(0, 0), (0, 10_000));
    }

    #[test]
    fn axes_are_written_short() {
        assert_eq!(short(1_500, 1), "1.5k");
        assert_eq!(short(20_000_000, 1), "20M");
        assert_eq!(short(999, 1), "999");
        assert_eq!(short(200_000, 100_000_000), "0.002");
        assert_eq!(short(150_000_000, 100_000_000), "1.5");
        assert_eq!(short(-2_000, 1), "\u{2212}2k");
        assert_eq!(short(0, 100_000_000), "0");
    }
}
