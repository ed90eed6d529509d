//! Inducing patches as small images.

use std::path::Path;

use super::bitmap::{Bitmap, Tones};
use super::canvas::{BETWEEN_MARGINS, Frame, HEIGHT, INK, MARGIN, SQUARE_HEADER, on_paper};
use super::rows::thin;
use super::{Caption, PlotError};

const NAME: &str = "Inducing patches";

/// The height of the line above a set.
const TITLE: f64 = 24.0;
/// The largest side of a patch on the sheet, in pixels.
const LARGEST_SIDE: u32 = 60;
const SMALLEST_SIDE: u32 = 14;
const GAP: f64 = 4.0;
/// The share of the values that are clipped to black, and to white.
const OUTSIDE: f64 = 0.005;

/// A set of patches.
#[derive(Debug, Clone, Copy)]
pub struct PatchSet<'a> {
    /// The name of the set.
    pub name: &'a str,
    /// The values with one row per patch and the channels of a pixel next to each other.
    pub values: &'a [f64],
}

/// Draws sets of patches with `size` rows and columns and `channels` channels, scaled from the
/// darkest to the brightest value of all sets: in color with three channels, otherwise in gray.
///
/// # Errors
///
/// [`PlotError::NothingToShow`] if no value is finite, [`PlotError::Write`] if the file cannot be
/// written.
pub fn inducing_patches(
    path: &Path,
    sets: &[PatchSet<'_>],
    (size, channels): (usize, usize),
    caption: Caption<'_>,
) -> Result<(), PlotError> {
    let all = || sets.iter().flat_map(|set| set.values.iter().copied());
    let Some(tones) = Tones::of(all(), OUTSIDE) else {
        return Err(PlotError::nothing(NAME, all().count()));
    };
    let length = size * size * channels;
    let height = (HEIGHT - SQUARE_HEADER - MARGIN) / sets.len() as f64;
    let number = |value: f64| format!("{value:.2}").replace('-', "−");
    let (black, white) = (number(tones.black), number(tones.white));
    let remarks = [
        format!("{size} by {size} pixels, sorted from dark to bright"),
        format!("black is {black}, white is {white}"),
    ];
    let frame = Frame::new(NAME, caption, Vec::new()).with_remarks(remarks.map(Some));
    on_paper(path, &frame, |sheet| {
        let mut area = sheet.inside([SQUARE_HEADER, MARGIN, 0.0, MARGIN]);
        for set in sets {
            let patches = sorted(set.values, length);
            let layout = Layout::of(patches.len(), height - TITLE);
            let shown = thin(&patches, layout.columns * layout.rows);
            let title = title(set.name, shown.len(), patches.len());
            area.write(&title, INK, (0.0, 0.0));
            area = area.split_vertically(TITLE).1;
            for (place, patch) in shown.iter().enumerate() {
                let bitmap = Bitmap::new(patch, size, channels, tones);
                area.image(&bitmap, layout.place(place), (layout.side, layout.side));
            }
            let (_, top) = layout.place(shown.len() + layout.columns - 1);
            area = area.split_vertically(top + 2.0 * GAP).1;
        }
    })
}

/// The patches, sorted by the sum of their values.
fn sorted(values: &[f64], length: usize) -> Vec<&[f64]> {
    let mut patches: Vec<&[f64]> = values.chunks_exact(length).collect();
    let brightness = |patch: &[f64]| patch.iter().sum::<f64>();
    patches.sort_by(|a, b| brightness(a).total_cmp(&brightness(b)));
    patches
}

fn title(name: &str, shown: usize, count: usize) -> String {
    match shown == count {
        true => format!("{count} {name}"),
        false => format!("{shown} of {count} {name}"),
    }
}

/// Patches in rows, as large as possible.
struct Layout {
    side: f64,
    columns: usize,
    rows: usize,
}

impl Layout {
    fn of(count: usize, height: f64) -> Self {
        let with_side = |side: u32| {
            let side = f64::from(side);
            let fit = |room: f64| (((room + GAP) / (side + GAP)) as usize).max(1);
            Self {
                side,
                columns: fit(BETWEEN_MARGINS),
                rows: fit(height - 3.0 * GAP),
            }
        };
        let mut sides = (SMALLEST_SIDE..=LARGEST_SIDE).rev().map(with_side);
        let found = sides.find(|layout| layout.columns * layout.rows >= count);
        found.unwrap_or_else(|| with_side(SMALLEST_SIDE))
    }

    /// The upper left corner of a patch.
    fn place(&self, index: usize) -> (f64, f64) {
        let along = |count: usize| (self.side + GAP) * count as f64;
        (along(index % self.columns), along(index / self.columns))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CAPTION, Plot, wave};
    use super::*;

    #[test]
    fn every_patch_is_an_image_unless_there_are_too_many() {
        let values = wave(40 * 75, 0.3);
        let set = |name| PatchSet {
            name,
            values: &values,
        };
        let sets = [set("inducing patches"), set("orthogonal inducing patches")];
        let draw = |sets: &[PatchSet<'_>], shape| {
            Plot::of(|path| inducing_patches(path, sets, shape, CAPTION))
        };
        let plot = draw(&sets, (5, 3));
        assert_eq!(plot.count("image"), 80);
        assert!(plot.has_text("40 orthogonal inducing patches"));
        let many = draw(&sets, (1, 1));
        assert!(many.count("image") < 2 * 3000);
        assert!(many.has_text("of 3000 inducing patches"));
    }

    #[test]
    fn patches_are_as_large_as_they_fit_and_brightest_last() {
        for count in [1, 7, 100, 400] {
            let layout = Layout::of(count, 400.0);
            let (x, y) = layout.place(count - 1);
            assert!(
                x + layout.side <= 780.0 && y + layout.side <= 400.0,
                "{count}"
            );
        }
        let values = [3.0, 1.0, 0.0, 0.5];
        assert_eq!(sorted(&values, 2), [&[0.0, 0.5], &[3.0, 1.0]]);
    }

    #[test]
    fn nothing_finite_is_an_error() {
        let set = PatchSet {
            name: "inducing patches",
            values: &[f64::NAN; 4],
        };
        let error = Plot::refused(|path| inducing_patches(path, &[set], (2, 1), CAPTION));
        assert!(matches!(error, PlotError::NothingToShow { .. }));
    }
}
