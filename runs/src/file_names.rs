//! Names of files and folders from texts of the user, such as the name of a column.

/// Converts a text to the name of a single file or folder. The name never leads to another folder, and
/// different texts have different names.
///
/// Letters, digits and most signs stay. Each byte of other characters, and of a period or space at either end,
/// becomes `%` with two hexadecimal digits, as in URLs. The name of the empty text is `%`.
pub fn file_name(text: &str) -> String {
    if text.is_empty() {
        return "%".to_owned();
    }
    let last = text.chars().count() - 1;
    let mut name = String::with_capacity(text.len());
    for (place, letter) in text.chars().enumerate() {
        let is_at_end = place == 0 || place == last;
        // A leading period hides a file or means a folder; some systems drop a trailing period or space.
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
        }
    }

    #[test]
    fn every_text_has_a_name_of_its_own() {
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
        for name in &names {
            assert_eq!(names.iter().filter(|other| *other == name).count(), 1);
            assert!(
                !name.is_empty() && !name.contains(['/', '\\', '\0']),
                "{name}"
            );
            assert!(!name.starts_with('.') && !name.ends_with('.'), "{name}");
        }
    }
}
