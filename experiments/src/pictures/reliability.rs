//! Reliability of predicted probabilities of a binary class.

use std::path::Path;

use plotters::prelude::*;

use super::calibration::share_axes;
use super::canvas::{Area, Frame, drawing, font, pixels, square};
use super::legend::{Entry, Sample};
use super::predicted_observed::HALF_WIDTH_95;
use super::rows::{remark, same_length};
use super::{Caption, PictureError, palette};

const PICTURE: &str = "Reliability";

/// Bins of equal width on the probability axis.
const BINS: usize = 10;

/// Rows whose predicted probability falls into one bin.
#[derive(Debug, Clone, Copy, Default)]
struct Bin {
    count: usize,
    positive: usize,
    probability_sum: f64,
}

impl Bin {
    fn mean_probability(&self) -> f64 {
        self.probability_sum / self.count as f64
    }

    fn frequency(&self) -> f64 {
        self.positive as f64 / self.count as f64
    }

    /// Wilson's 95 % interval of the frequency.
    fn interval(&self) -> (f64, f64) {
        let (count, share) = (self.count as f64, self.frequency());
        let squared = HALF_WIDTH_95 * HALF_WIDTH_95;
        let centre = (share + squared / (2.0 * count)) / (1.0 + squared / count);
        let spread = share * (1.0 - share) / count + squared / (4.0 * count * count);
        let half = HALF_WIDTH_95 * spread.sqrt() / (1.0 + squared / count);
        ((centre - half).max(0.0), (centre + half).min(1.0))
    }
}

/// Draws the frequency of the positive class against its predicted probability, in ten bins.
///
/// Bars are Wilson's 95 % intervals of the frequencies. The expected calibration error beside the
/// plot is Σ_b (n_b / n)·|frequency_b − mean probability_b|. The small histogram counts rows per
/// bin.
///
/// # Errors
///
/// [`PictureError::LengthMismatch`] when the slices differ in length,
/// [`PictureError::NothingToShow`] when no probability lies in 0 to 1, [`PictureError::Write`]
/// when the file cannot be written.
pub fn reliability(
    path: &Path,
    probability: &[f64],
    positive: &[bool],
    caption: Caption<'_>,
) -> Result<(), PictureError> {
    same_length(PICTURE, "the labels", probability.len(), positive.len())?;
    let rows: Vec<(f64, bool)> = probability
        .iter()
        .copied()
        .zip(positive.iter().copied())
        .filter(|(value, _)| (0.0..=1.0).contains(value))
        .collect();
    if rows.is_empty() {
        return Err(PictureError::NothingToShow {
            picture: PICTURE,
            given: probability.len(),
        });
    }
    let bins = fill_bins(&rows);
    let filled: Vec<Bin> = bins.iter().copied().filter(|bin| bin.count > 0).collect();
    let frame = Frame {
        picture: PICTURE,
        caption,
        remarks: remark(probability.len() - rows.len(), "outside 0 to 1, left out")
            .into_iter()
            .collect(),
        legend: legend_entries(),
    };
    square(
        path,
        &frame,
        share_axes("predicted probability", "observed frequency"),
        &facts(&rows, &filled),
        |chart| {
            let diagonal = palette::INK.stroke_width(pixels(1) as u32);
            let bar = palette::BLUE.mix(0.6).stroke_width(pixels(2) as u32);
            let bars = filled.iter().map(|bin| {
                let (low, high) = bin.interval();
                let at = bin.mean_probability();
                PathElement::new(vec![(at, low), (at, high)], bar)
            });
            let line = PathElement::new(vec![(0.0, 0.0), (1.0, 1.0)], diagonal);
            chart
                .draw_series([line].into_iter().chain(bars))
                .map_err(drawing(PICTURE))?;
            let dot = palette::BLUE.filled();
            let dots = filled
                .iter()
                .map(|bin| Circle::new((bin.mean_probability(), bin.frequency()), pixels(5), dot));
            chart.draw_series(dots).map_err(drawing(PICTURE))?;
            Ok(())
        },
        |panel, y| histogram(panel, &bins, y + 20),
    )
}

fn fill_bins(rows: &[(f64, bool)]) -> [Bin; BINS] {
    let mut bins = [Bin::default(); BINS];
    for &(probability, positive) in rows {
        // Probability 1 belongs to the last bin.
        let index = ((probability * BINS as f64) as usize).min(BINS - 1);
        bins[index].count += 1;
        bins[index].positive += usize::from(positive);
        bins[index].probability_sum += probability;
    }
    bins
}

fn legend_entries() -> Vec<Entry> {
    vec![
        Entry::new(Sample::BarredDot, palette::BLUE, "bin and 95 % interval"),
        Entry::new(Sample::Line, palette::INK, "perfect calibration"),
    ]
}

fn facts(rows: &[(f64, bool)], filled: &[Bin]) -> [(&'static str, String); 4] {
    let count = rows.len() as f64;
    let error: f64 = filled
        .iter()
        .map(|bin| bin.count as f64 / count * (bin.frequency() - bin.mean_probability()).abs())
        .sum();
    let positive = rows.iter().filter(|row| row.1).count() as f64;
    let wrong = rows.iter().filter(|row| (row.0 > 0.5) != row.1).count() as f64;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    [
        ("test rows", rows.len().to_string()),
        ("positive", percent(positive / count)),
        ("error rate", percent(wrong / count)),
        ("calibration error", percent(error)),
    ]
}

/// Rows per bin, as small bars below the facts.
fn histogram(panel: &Area<'_>, bins: &[Bin; BINS], top: i32) -> Result<(), PictureError> {
    const LEFT: i32 = 8;
    const BAR: i32 = 20;
    const HEIGHT: i32 = 90;
    let most = bins.iter().map(|bin| bin.count).max().unwrap_or(1) as f64;
    let base = top + 22 + HEIGHT;
    let grey = font(12.5).color(&palette::GREY);
    let words = |text: &str, x: i32, y: i32| {
        panel
            .draw_text(text, &grey, (pixels(x), pixels(y)))
            .map_err(drawing(PICTURE))
    };
    words("rows per bin", LEFT, top)?;
    for (index, bin) in bins.iter().enumerate() {
        let left = LEFT + BAR * index as i32;
        let height = (f64::from(pixels(HEIGHT)) * bin.count as f64 / most).round() as i32;
        let corners = [
            (pixels(left), pixels(base) - height),
            (pixels(left + BAR - 2), pixels(base)),
        ];
        panel
            .draw(&Rectangle::new(corners, palette::SKY.filled()))
            .map_err(drawing(PICTURE))?;
    }
    let ends = [
        (pixels(LEFT), pixels(base)),
        (pixels(LEFT + 10 * BAR), pixels(base)),
    ];
    let floor = palette::GREY.stroke_width(pixels(1) as u32);
    panel
        .draw(&PathElement::new(ends, floor))
        .map_err(drawing(PICTURE))?;
    words("0", LEFT, base + 4)?;
    words("1", LEFT + 10 * BAR - 8, base + 4)
}

#[cfg(test)]
mod tests {
    use super::super::canvas::testing::{CAPTION, Picture};
    use super::*;

    #[test]
    fn one_dot_a_filled_bin_and_the_exact_calibration_error() {
        // Bins 0.1 (3 of 4 negative rows right) and 1.0 (certain and right): error 4/6·0.15.
        let probability = [0.1, 0.1, 0.1, 0.1, 1.0, 1.0];
        let positive = [false, false, false, true, true, true];
        let picture = Picture::of(|path| reliability(path, &probability, &positive, CAPTION));
        assert_eq!(picture.count("circle"), 2 + 1);
        assert!(picture.has_text("10.0 %"));
        assert!(picture.has_text("16.7 %"));
    }

    #[test]
    fn wilson_interval_of_half_of_ten() {
        // Reference: 0.5 ± 1.96·√(0.025 + 3.8415/400)/(1 + 0.38415) = 0.5 ± 0.26341.
        let bin = Bin {
            count: 10,
            positive: 5,
            probability_sum: 5.0,
        };
        let (low, high) = bin.interval();
        assert!((low - 0.236_59).abs() < 1e-5 && (high - 0.763_41).abs() < 1e-5);
    }

    #[test]
    fn values_that_are_no_probability_are_counted_or_refused() {
        let picture =
            Picture::of(|path| reliability(path, &[0.5, f64::NAN, 1.2], &[true; 3], CAPTION));
        assert!(picture.has_text("2 outside 0 to 1, left out"));
        let error = Picture::refused(|path| reliability(path, &[-0.1], &[true], CAPTION));
        assert!(matches!(
            error,
            PictureError::NothingToShow { given: 1, .. }
        ));
        let error = Picture::refused(|path| reliability(path, &[0.1], &[], CAPTION));
        assert!(matches!(error, PictureError::LengthMismatch { .. }));
    }
}
