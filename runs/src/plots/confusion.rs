//! Confusion matrices.

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::canvas::{
    Area, Frame, HEIGHT, LABEL_SIZE, MARGIN, SQUARE_HEADER, WIDTH, font, gray, ink, on_paper,
    pixels,
};
use super::rows::same_length;
use super::text_extent::{fitted, widest, width};
use super::{Caption, PlotError, palette};

const NAME: &str = "Confusion";

/// The space for the words along an axis, in pixels.
const AXIS: i32 = 20;
/// The widest class name beside the matrix, in pixels, and the largest font size.
const WIDEST_NAME: f64 = 90.0;
const NAME_SIZE: f64 = 12.0;
/// The smallest side of a cell with a number in it, in pixels.
const SMALLEST_WITH_NUMBER: i32 = 16;
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

    /// The space for the names left of the matrix and below it.
    fn names_room(&self) -> i32 {
        self.widest_name().ceil() as i32 + 16
    }

    /// The width of the widest name as shown, in pixels.
    fn widest_name(&self) -> f64 {
        let names = (0..self.names.len()).map(|class| self.name(class));
        widest(names, NAME_SIZE)
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
    let frame = Frame {
        remarks: vec![
            format!("{rows} test rows, {error:.1} % of them misclassified"),
            "colors show shares of each class".into(),
        ],
        ..Frame::new(NAME, caption, Vec::new())
    };
    on_paper(path, &frame, |sheet| {
        let room = HEIGHT as i32 - SQUARE_HEADER - MARGIN - content.names_room() - AXIS;
        let side = (room / classes as i32).max(1);
        let matrix = Matrix {
            content,
            left: MARGIN + AXIS + content.names_room(),
            top: SQUARE_HEADER,
            side,
        };
        matrix.draw(sheet)?;
        list(sheet, &content, matrix.left + side * classes as i32 + 40)
    })
}

/// The position of the matrix on the sheet, in pixels.
struct Matrix<'a> {
    content: Confusion<'a>,
    left: i32,
    top: i32,
    side: i32,
}

impl Matrix<'_> {
    fn draw(&self, sheet: &Area<'_>) -> Result<(), PlotError> {
        let classes = self.content.names.len();
        for class in 0..classes {
            for predicted in 0..classes {
                self.cell(sheet, class, predicted)?;
            }
        }
        let side = self.side * classes as i32;
        let edge = palette::GRAY.stroke_width(pixels(1) as u32);
        sheet.rectangle((self.left, self.top), (side, side), edge)?;
        self.names(sheet)
    }

    fn cell(&self, sheet: &Area<'_>, class: usize, predicted: usize) -> Result<(), PlotError> {
        let count = self.content.count(class, predicted);
        let share = count as f64 / self.content.of_class(class).max(1) as f64;
        let [row, column] = [class, predicted].map(|place| place as i32);
        let (x, y) = (self.left + column * self.side, self.top + row * self.side);
        let size = (self.side, self.side);
        let color = palette::share(class == predicted, share);
        sheet.rectangle((x, y), size, color.filled())?;
        sheet.rectangle((x, y), size, palette::GRID.stroke_width(pixels(1) as u32))?;
        if count == 0 || self.side < SMALLEST_WITH_NUMBER {
            return Ok(());
        }
        let color = match share > 0.6 {
            true => palette::PAPER,
            false => palette::INK,
        };
        let text = count.to_string();
        let largest = 0.85 * f64::from(self.side) / width(&text, 1.0);
        let style = font(largest.min(LABEL_SIZE))
            .color(&color)
            .pos(Pos::new(HPos::Center, VPos::Center));
        sheet.write(&text, &style, (x + self.side / 2, y + self.side / 2))
    }

    fn names(&self, sheet: &Area<'_>) -> Result<(), PlotError> {
        let classes = self.content.names.len() as i32;
        let size = (0.9 * f64::from(self.side)).min(NAME_SIZE);
        let style = font(size).color(&palette::INK);
        let beside = style.pos(Pos::new(HPos::Right, VPos::Center));
        let fits = self.content.widest_name() + 6.0 < f64::from(self.side);
        let below = match fits {
            true => style.pos(Pos::new(HPos::Center, VPos::Top)),
            false => beside.transform(FontTransform::Rotate270),
        };
        let extent = self.side * classes;
        for class in 0..classes {
            let name = self.content.name(class as usize);
            let middle = class * self.side + self.side / 2;
            let place = (self.left - 6, self.top + middle);
            sheet.write(&name, &beside, place)?;
            let place = (self.left + middle, self.top + extent + 6);
            sheet.write(&name, &below, place)?;
        }
        let centered = gray().pos(Pos::new(HPos::Center, VPos::Center));
        let bottom = self.top + extent + self.content.names_room() + AXIS / 2;
        let place = (self.left + extent / 2, bottom);
        sheet.write("predicted class", &centered, place)?;
        let upright = centered.transform(FontTransform::Rotate270);
        let place = (MARGIN + AXIS / 2, self.top + extent / 2);
        sheet.write("class", &upright, place)
    }
}

/// Lists the most frequent mistakes to the right of the matrix.
fn list(sheet: &Area<'_>, content: &Confusion<'_>, left: i32) -> Result<(), PlotError> {
    const LINE_HEIGHT: i32 = 21;
    const COUNTS: i32 = 42;
    // Each of the two names gets half of the room beside the word between them.
    let room = f64::from(WIDTH as i32 - MARGIN - left - COUNTS) - width(" as ", LABEL_SIZE);
    let name = |class: usize| fitted(&content.names[class], LABEL_SIZE, room / 2.0);
    let mistakes = content.mistakes();
    let title = match mistakes.is_empty() {
        true => "no mistakes",
        false => "most frequent mistakes",
    };
    sheet.write(title, &gray(), (left, SQUARE_HEADER + 4))?;
    for (line, (class, predicted, count)) in mistakes.into_iter().enumerate() {
        let y = SQUARE_HEADER + 4 + LINE_HEIGHT * (line as i32 + 1);
        let text = format!("{} as {}", name(class), name(predicted));
        sheet.write(&count.to_string(), &ink(), (left, y))?;
        sheet.write(&text, &ink(), (left + COUNTS, y))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CAPTION, Plot, wide_name};
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
