//! Confusion matrices.

use burn_gp_datasets::counted;
use std::path::Path;

use super::canvas::{
    Frame, GRAY, HEIGHT, INK, LABEL_SIZE, LINE_HEIGHT, MARGIN, SQUARE_HEADER, on_paper,
};
use super::drawing::{Area, Font};
use super::rows::same_length;
use super::text_extent::{fitted, widest, width};
use super::{Caption, PlotError, palette};

const NAME: &str = "Confusion";

/// The space for the words along an axis, in pixels.
const AXIS: f64 = 20.0;
/// The widest class name beside the matrix, in pixels, and the largest font size.
const WIDEST_NAME: f64 = 90.0;
const NAME_SIZE: f64 = 12.0;
/// The smallest side of a cell with a number in it, in pixels.
const SMALLEST_WITH_NUMBER: f64 = 16.0;
/// The number of mistakes in the list.
const LISTED: usize = 8;

/// The number of rows of each class that were predicted to be of each class.
#[derive(Debug, Clone, Copy)]
pub struct Confusion<'a> {
    /// The counts in row-major order, with a row for each class and a column for each prediction,
    /// `[C, C]`.
    pub counts: &'a [usize],
    /// The names of the classes, `[C]`.
    pub names: &'a [String],
}

impl Confusion<'_> {
    fn count(&self, class: usize, predicted: usize) -> usize {
        self.counts[class * self.names.len() + predicted]
    }

    /// The number of rows of a class.
    fn of_class(&self, class: usize) -> usize {
        let classes = self.names.len();
        self.counts[class * classes..][..classes].iter().sum()
    }

    /// The width of the widest name as shown, in pixels.
    fn widest_name(&self) -> f64 {
        let names = (0..self.names.len()).map(|class| self.name(class));
        widest(names, NAME_SIZE).ceil()
    }

    fn name(&self, class: usize) -> String {
        fitted(&self.names[class], NAME_SIZE, WIDEST_NAME)
    }

    /// The class, prediction and count of each mistake, the most frequent first.
    fn mistakes(&self) -> Vec<(usize, usize, usize)> {
        let classes = self.names.len();
        let pairs = (0..classes).flat_map(|class| (0..classes).map(move |other| (class, other)));
        let mut mistakes: Vec<(usize, usize, usize)> = pairs
            .filter(|(class, other)| class != other)
            .map(|(class, other)| (class, other, self.count(class, other)))
            .filter(|(.., count)| *count > 0)
            .collect();
        mistakes.sort_by_key(|&(.., count)| std::cmp::Reverse(count));
        mistakes.truncate(LISTED);
        mistakes
    }
}

/// Draws a confusion matrix with a row for each class and a column for each prediction. Colors show
/// the share of the class.
///
/// # Errors
///
/// [`PlotError::LengthMismatch`] if there is not one count for each pair of classes,
/// [`PlotError::NothingToShow`] if all counts are zero, [`PlotError::Write`] if the file cannot be
/// written.
pub fn confusion(
    path: &Path,
    content: Confusion<'_>,
    caption: Caption<'_>,
) -> Result<(), PlotError> {
    let (classes, found) = (content.names.len(), content.counts.len());
    same_length(NAME, "the counts", classes * classes, found)?;
    let rows: usize = content.counts.iter().sum();
    if rows == 0 {
        return Err(PlotError::nothing(NAME, found));
    }
    let right: usize = (0..classes).map(|class| content.count(class, class)).sum();
    let error = 100.0 * (rows - right) as f64 / rows as f64;
    let remarks = [
        format!(
            "{}, {error:.1} % of them misclassified",
            counted(rows, "test row")
        ),
        "colors show shares of each class".to_owned(),
    ];
    let frame = Frame::new(NAME, caption, Vec::new()).with_remarks(remarks.map(Some));
    let names = content.widest_name() + 16.0;
    let room = HEIGHT - SQUARE_HEADER - MARGIN - names - AXIS;
    let side = (room / classes as f64).floor().max(1.0);
    let matrix = Matrix {
        content,
        names,
        side,
        extent: side * classes as f64,
    };
    on_paper(path, &frame, |sheet| {
        let left = MARGIN + AXIS + names;
        matrix.draw(sheet.inside([SQUARE_HEADER, 0.0, 0.0, left]));
        let right = left + matrix.extent + 40.0;
        list(sheet.inside([SQUARE_HEADER, MARGIN, 0.0, right]), &content);
    })
}

/// The matrix with its sizes in pixels.
struct Matrix<'a> {
    content: Confusion<'a>,
    /// The space for the names left of the matrix and below it.
    names: f64,
    /// The side of a cell, and of the matrix.
    side: f64,
    extent: f64,
}

impl Matrix<'_> {
    /// Draws the matrix in the upper left corner of an area, and the names around it.
    fn draw(&self, area: Area<'_>) {
        let classes = self.content.names.len();
        for class in 0..classes {
            for predicted in 0..classes {
                self.draw_cell(area, class, predicted);
            }
        }
        let edge = palette::GRAY.line(1.0);
        area.rectangle((0.0, 0.0), (self.extent, self.extent), edge);
        self.write_names(area);
    }

    fn draw_cell(&self, area: Area<'_>, class: usize, predicted: usize) {
        let count = self.content.count(class, predicted);
        let share = count as f64 / self.content.of_class(class).max(1) as f64;
        let [y, x] = [class, predicted].map(|place| self.side * place as f64);
        let size = (self.side, self.side);
        let color = palette::share(class == predicted, share);
        area.rectangle((x, y), size, color.filled());
        // Wide edges would hide the colors of small cells.
        let edge = palette::GRID.line((self.side / 30.0).min(1.0));
        area.rectangle((x, y), size, edge);
        if count == 0 || self.side < SMALLEST_WITH_NUMBER {
            return;
        }
        let color = match share > 0.6 {
            true => palette::PAPER,
            false => palette::INK,
        };
        let text = count.to_string();
        let largest = 0.85 * self.side / width(&text, 1.0);
        let font = Font::new(largest.min(LABEL_SIZE)).colored(color);
        let half = self.side / 2.0;
        area.write(&text, font.centered(), (x + half, y + half));
    }

    fn write_names(&self, area: Area<'_>) {
        let font = Font::new((0.9 * self.side).min(NAME_SIZE));
        let below = match self.content.widest_name() + 6.0 < self.side {
            true => font.below(),
            false => font.before().upward(),
        };
        for class in 0..self.content.names.len() {
            let name = self.content.name(class);
            let middle = self.side * (class as f64 + 0.5);
            area.write(&name, font.before(), (-6.0, middle));
            area.write(&name, below, (middle, self.extent + 6.0));
        }
        let (middle, beside) = (self.extent / 2.0, self.names + AXIS / 2.0);
        let below = (middle, self.extent + beside);
        area.write("predicted class", GRAY.centered(), below);
        area.write("class", GRAY.centered().upward(), (-beside, middle));
    }
}

/// Lists the most frequent mistakes.
fn list(area: Area<'_>, content: &Confusion<'_>) {
    const TOP: f64 = 4.0;
    const COUNTS: f64 = 42.0;
    // Each of the two names gets half of the room beside the word between them.
    let room = area.width - COUNTS - width(" as ", LABEL_SIZE);
    let name = |class: usize| fitted(&content.names[class], LABEL_SIZE, room / 2.0);
    let mistakes = content.mistakes();
    let title = match mistakes.is_empty() {
        true => "no mistakes",
        false => "most frequent mistakes",
    };
    area.write(title, GRAY, (0.0, TOP));
    for (line, (class, predicted, count)) in (1..).zip(mistakes) {
        let y = TOP + LINE_HEIGHT * f64::from(line);
        let text = format!("{} as {}", name(class), name(predicted));
        area.write(&count.to_string(), INK, (0.0, y));
        area.write(&text, INK, (COUNTS, y));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CAPTION, Plot, wide_name};
    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|class| format!("class {class}")).collect()
    }

    #[test]
    fn every_count_is_written_and_mistakes_are_listed() {
        let names = names(3);
        let content = Confusion {
            counts: &[50, 3, 0, 7, 40, 11, 0, 0, 60],
            names: &names,
        };
        assert_eq!(content.mistakes(), [(1, 2, 11), (1, 0, 7), (0, 1, 3)]);
        let plot = Plot::of(|path| confusion(path, content, CAPTION));
        for text in ["50", "class 1 as class 2", "171 test rows, 12.3 %"] {
            assert!(plot.has_text(text), "{text}");
        }
        // The background, each cell with its edge, and the edge of the matrix.
        assert_eq!(plot.count("rect"), 1 + 2 * 9 + 1);
    }

    #[test]
    fn a_hundred_classes_have_no_numbers_and_bad_counts_are_errors() {
        let names = names(100);
        let mut counts = vec![0; 100 * 100];
        counts[101] = 12345;
        let content = Confusion {
            counts: &counts,
            names: &names,
        };
        let plot = Plot::of(|path| confusion(path, content, CAPTION));
        assert_eq!(plot.count_text("12345"), 1, "in the header alone");
        let refused = |counts: &[usize]| {
            let names = &names[..2];
            let content = Confusion { counts, names };
            Plot::refused(|path| confusion(path, content, CAPTION))
        };
        assert!(matches!(
            refused(&[1, 2, 3]),
            PlotError::LengthMismatch { .. }
        ));
        assert!(matches!(refused(&[0; 4]), PlotError::NothingToShow { .. }));
    }

    #[test]
    fn long_names_have_room_and_stay_different() {
        for classes in [3, 12, 40] {
            let names: Vec<String> = (0..classes)
                .map(|class| wide_name(&class.to_string()))
                .collect();
            let counts: Vec<usize> = (0..classes * classes).collect();
            let content = Confusion {
                counts: &counts,
                names: &names,
            };
            let plot = Plot::of(|path| confusion(path, content, CAPTION));
            assert!(plot.has_text("W2"));
        }
    }
}
