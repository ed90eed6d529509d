//! Makes control characters visible. Names in a table or a folder may come from anybody, and a terminal obeys
//! control characters.

use std::borrow::Cow;

/// The text with its control characters escaped, such as `\u{1b}`. Line feeds and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match is_hidden(letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Whether the character is a control character for terminals or is not allowed in XML.
fn is_hidden(letter: char) -> bool {
    let is_layout = matches!(letter, '\n' | '\t');
    (letter.is_control() && !is_layout) || matches!(letter, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn control_characters_are_shown_and_all_else_stays() {
        for (text, expected) in [
            ("a\x1b]0;title\x07b", "a\\u{1b}]0;title\\u{7}b"),
            ("over\rwritten", "over\\rwritten"),
            ("\u{9b}31m and \x7f", "\\u{9b}31m and \\u{7f}"),
            (
                "two\nlines\tand ± Größe 漢字",
                "two\nlines\tand ± Größe 漢字",
            ),
            ("", ""),
        ] {
            assert_eq!(visible(text), expected);
        }
    }
}
