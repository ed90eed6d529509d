//! Inducing patches as small images.

use std::path::Path;

use super::bitmap::{Bitmap, Tones};
use super::canvas::{Frame, HEIGHT, MARGIN, SQUARE_HEADER, WIDTH, ink, on_paper};
use super::rows::thin;
use super::{Caption, PlotError};

const NAME: &str = "Inducing patches";

/// The height of the line above a set.
const TITLE: i32 = 24;
/// The largest side of a patch on the sheet, in pixels.
const LARGEST_SIDE: i32 = 60;
const SMALLEST_SIDE: i32 = 14;
const GAP: i32 = 4;
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
    let height = (HEIGHT as i32 - SQUARE_HEADER - MARGIN) / sets.len() as i32;
    let (mut images, mut titles) = (Vec::new(), Vec::new());
    let mut top = SQUARE_HEADER;
    for set in sets {
        let patches = sorted(set.values, length);
        let layout = Layout::of(patches.len(), height - TITLE);
        let shown = thin(&patches, layout.capacity());
        titles.push((title(set.name, shown.len(), patches.len()), top));
        images.extend(shown.iter().enumerate().map(|(place, patch)| {
            let (x, y) = layout.place(place);
            let bitmap = Bitmap::new(patch, size, channels, tones);
            let corner = (MARGIN + x, top + TITLE + y);
            (bitmap, corner, (layout.side, layout.side))
        }));
        top += TITLE + layout.height(shown.len());
    }
    let number = |value: f64| format!("{value:.2}").replace('-', "−");
    let frame = Frame {
        remarks: vec![
            format!("{size} by {size} pixels, sorted from dark to bright"),
            format!(
                "black is {}, white is {}",
                number(tones.black),
                number(tones.white)
            ),
        ],
        ..Frame::new(NAME, caption, Vec::new())
    };
    on_paper(path, &frame, |sheet| {
        for (bitmap, corner, size) in images {
            sheet.image(bitmap, corner, size);
        }
        let mut titles = titles.iter();
        titles.try_for_each(|(title, top)| sheet.write(title, &ink(), (MARGIN, *top)))
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
    side: i32,
    columns: i32,
    rows: i32,
}

impl Layout {
    fn of(count: usize, height: i32) -> Self {
        let with_side = |side: i32| {
            let fit = |room: i32| ((room + GAP) / (side + GAP)).max(1);
            Self {
                side,
                columns: fit(WIDTH as i32 - 2 * MARGIN),
                rows: fit(height - 3 * GAP),
            }
        };
        let mut sides = (SMALLEST_SIDE..=LARGEST_SIDE).rev().map(with_side);
        let found = sides.find(|layout| layout.capacity() >= count);
        found.unwrap_or_else(|| with_side(SMALLEST_SIDE))
    }

    fn capacity(&self) -> usize {
        (self.columns * self.rows) as usize
    }

    /// The height of `count` patches, with a gap below them.
    fn height(&self, count: usize) -> i32 {
        let rows = count.div_ceil(self.columns as usize) as i32;
        (self.side + GAP) * rows + 2 * GAP
    }

    /// The upper left corner of a patch.
    fn place(&self, index: usize) -> (i32, i32) {
        let step = self.side + GAP;
        let index = index as i32;
        (step * (index % self.columns), step * (index / self.columns))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CAPTION, Plot, wave};
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
            let layout = Layout::of(count, 400);
            let (x, y) = layout.place(count - 1);
            assert!(x + layout.side <= 780 && y + layout.side <= 400, "{count}");
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
