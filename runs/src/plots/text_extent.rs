//! The extent of text, to shorten labels before they collide.
//!
//! The viewer of a plot chooses the font. Widths here are those of DejaVu Sans, one of the widest
//! common sans-serif fonts, so that labels also fit in other fonts.

/// The widths of the printable ASCII characters in thousandths of the font size, from the space on.
const ASCII: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// The width of bold letters relative to regular ones.
pub(super) const BOLD: f64 = 1.15;

/// The width of a character relative to the font size.
fn letter(character: char) -> f64 {
    let code = character as usize;
    match ASCII.get(code.wrapping_sub(32)) {
        Some(&width) => f64::from(width) / 1000.0,
        None => match character {
            '·' => 0.32,
            '⁻' => 0.528,
            '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' => 0.401,
            '×' | '−' | '±' => 0.838,
            'à'..='ÿ' => 0.65,
            // Wide enough for Greek and Cyrillic letters and ideographs in almost all fonts.
            _ => 1.0,
        },
    }
}

/// The width of a line of text in pixels, in a font of this size.
pub(super) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(letter).sum::<f64>()
}

/// The largest width of several lines.
pub(super) fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>, size: f64) -> f64 {
    let widths = texts.into_iter().map(|text| width(text.as_ref(), size));
    widths.fold(0.0, f64::max)
}

/// The separator of the parts of a name, such as the values of options.
const SEPARATOR: &str = ", ";

/// Replaces control characters, which XML forbids, and shortens a text that is wider than `room`. An
/// ellipsis goes into the middle of the widest part, because the ends of parts often tell names apart.
pub(super) fn fitted(text: &str, size: f64, room: f64) -> String {
    let whole: String = (text.chars())
        .map(|character| match character.is_control() {
            true => ' ',
            false => character,
        })
        .collect();
    let excess = width(&whole, size) - room;
    if excess <= 0.0 {
        return whole;
    }
    let mut parts: Vec<&str> = whole.split(SEPARATOR).collect();
    let place_of_widest = (0..parts.len()).max_by(|&a, &b| {
        let [a, b] = [a, b].map(|part| width(parts[part], size));
        a.total_cmp(&b)
    });
    let widest = place_of_widest.unwrap_or_default();
    let room_of_widest = width(parts[widest], size) - excess;
    // There must be room for a few letters and the ellipsis.
    if parts.len() == 1 || room_of_widest < 4.0 * size {
        return shortened(&whole, size, room);
    }
    let short = shortened(parts[widest], size, room_of_widest);
    parts[widest] = &short;
    parts.join(SEPARATOR)
}

/// The beginning and the end of a text around an ellipsis.
fn shortened(text: &str, size: f64, room: f64) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut left = room - width("…", size);
    let (mut head, mut tail) = (0, 0);
    while head + tail < letters.len() {
        let is_head = head <= tail;
        let next = match is_head {
            true => letters[head],
            false => letters[letters.len() - 1 - tail],
        };
        left -= size * letter(next);
        if left < 0.0 {
            break;
        }
        match is_head {
            true => head += 1,
            false => tail += 1,
        }
    }
    let ends = [&letters[..head], &letters[letters.len() - tail..]];
    let [start, end] = ends.map(|end| end.iter().collect::<String>());
    format!("{}…{}", start.trim_end(), end.trim_start())
}

/// Sentences in lines no wider than `room`, joined by semicolons.
pub(super) fn wrapped(sentences: &[String], size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for sentence in sentences {
        let longer = lines.last().map(|line| format!("{line}; {sentence}"));
        match (longer, lines.last_mut()) {
            (Some(longer), Some(line)) if width(&longer, size) <= room => *line = longer,
            _ => lines.push(fitted(sentence, size, room)),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_stays_and_another_keeps_its_ends() {
        assert_eq!(fitted("alpha\u{1}", 10.0, 100.0), "alpha ");
        for room in [20.0, 60.0, 100.0, 180.0] {
            let text = fitted("a very long class name that ends with B", 10.0, room);
            assert!(width(&text, 10.0) <= room, "{text}");
            assert!(text.starts_with('a') && text.contains('…'), "{text}");
            assert_eq!(text.ends_with('B'), room > 20.0, "{text}");
        }
        assert_eq!(fitted("wide", 10.0, 0.0), "…");
    }

    #[test]
    fn names_that_differ_at_the_end_of_a_part_stay_different() {
        let names = ["first", "second"].map(|end| format!("a kernel of many parts, {end}"));
        let shown = names.map(|name| fitted(&name, 12.0, 90.0));
        assert_ne!(shown[0], shown[1]);
        let middle = [8, 16].map(|count| {
            let kernel = "periodic(rbf)*matern32 + linear + rational-quadratic";
            let text = fitted(
                &format!("{kernel}, inducing {count}, rate 0.01"),
                12.5,
                270.0,
            );
            assert!(
                width(&text, 12.5) <= 270.0 && text.starts_with("per"),
                "{text}"
            );
            text
        });
        assert!(
            middle[0].ends_with("tic, inducing 8, rate 0.01"),
            "{middle:?}"
        );
        assert!(
            middle[1].ends_with("tic, inducing 16, rate 0.01"),
            "{middle:?}"
        );
    }

    #[test]
    fn wide_letters_are_wider_than_narrow_ones() {
        // Digits have equal widths, so that tick labels line up.
        assert_eq!(width("111", 12.0), width("888", 12.0));
        assert!(width("WWW", 12.0) > 3.0 * width("iii", 12.0));
        assert!((width("WWW", 12.0) - 35.6).abs() < 0.1);
    }

    #[test]
    fn sentences_share_lines_while_they_fit() {
        let sentences = ["one sentence", "another one", "the third"].map(String::from);
        let lines = wrapped(&sentences, 10.0, 150.0);
        assert_eq!(lines, ["one sentence; another one", "the third"]);
        assert!(wrapped(&[], 10.0, 150.0).is_empty());
    }
}
