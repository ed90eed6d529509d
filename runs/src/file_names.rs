//! Names of files and folders that are made of texts of the user, such as the name of a column.

/// The text as the name of one file or folder: it never leads elsewhere, and different texts have different
/// names.
///
/// Letters, digits and most signs stay. For others, a period at an end among them, there is `%` with two
/// hexadecimal digits for each byte, as in addresses of the web. The name of the empty text is `%`.
pub fn file_name(text: &str) -> String {
    if text.is_empty() {
        return "%".to_owned();
    }
    let last = text.chars().count() - 1;
    let mut name = String::with_capacity(text.len());
    for (place, letter) in text.chars().enumerate() {
        let is_at_end = place == 0 || place == last;
        // A period in front hides a file or stands for a folder; some systems drop one behind, or a space.
        let stays = match letter {
            '.' | ' ' => !is_at_end,
            letter => letter.is_alphanumeric() || "_-+=,()[]{}~@#&'!".contains(letter),
        };
        match stays {
            true => name.push(letter),
            false => name.extend(
                (letter.encode_utf8(&mut [0; 4]).bytes()).map(|byte| format!("%{byte:02X}")),
            ),
        }
    }
    name
}

/// The text whose [`file_name`] this is; `None` if there is none.
pub fn text_of(name: &str) -> Option<String> {
    if name == "%" {
        return Some(String::new());
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut pieces = name.split('%');
    bytes.extend(pieces.next()?.bytes());
    for piece in pieces {
        let (digits, rest) = piece.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(rest.bytes());
    }
    let text = String::from_utf8(bytes).ok()?;
    (file_name(&text) == name).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_stay() {
        for text in [
            "concrete",
            "periodic(rbf, period=12)+linear[1,3]",
            "0.001",
            "Größe_2-b",
        ] {
            assert_eq!(file_name(text), text);
            assert_eq!(text_of(text).as_deref(), Some(text));
        }
    }

    #[test]
    fn every_text_has_a_name_of_its_own_that_is_read_back() {
        let texts = [
            "",
            ".",
            "..",
            "...",
            "a",
            "a.",
            ".a",
            "a ",
            " a",
            "a/b",
            "a%2Fb",
            "a%2fb",
            "a\\b",
            "a-b",
            "%",
            "%25",
            "x/../../escaped",
            "/etc",
            "C:\\x",
            "rbf*linear",
            "a\0b",
            "a\nb",
            "a\x1bb",
            "é",
            "e\u{301}",
            "🌍",
            "a|b",
        ];
        let names: Vec<String> = texts.iter().map(|text| file_name(text)).collect();
        for (text, name) in texts.iter().zip(&names) {
            assert_eq!(text_of(name).as_deref(), Some(*text), "{name}");
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1);
            assert!(
                !name.is_empty() && !name.contains(['/', '\\', '\0']),
                "{name}"
            );
            assert!(!name.starts_with('.') && !name.ends_with('.'), "{name}");
        }
        // These are not names of texts: another name stands for the same.
        for name in ["%2", "%zz", "%41", "a/b", ".."] {
            assert_eq!(text_of(name), None, "{name}");
        }
    }
}
