//! HTML text and tables.

/// The text with the special characters of HTML escaped.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A table with a row of titles. Columns of numbers are right-aligned.
pub fn table(titles: &[&str], rows: &[Vec<String>]) -> String {
    let is_number = |text: &str| {
        let text = text.trim_end_matches(" %").trim_end_matches(" s");
        text.is_empty() || text == "–" || text.parse::<f64>().is_ok()
    };
    let is_numeric = |column: usize| rows.iter().all(|row| is_number(&row[column]));
    let class = |column: usize| match is_numeric(column) {
        true => " class=\"number\"",
        false => "",
    };
    let cells = |tag: &str, texts: &mut dyn Iterator<Item = &str>| {
        let cells = texts
            .enumerate()
            .map(|(column, text)| format!("<{tag}{}>{}</{tag}>", class(column), escaped(text)));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let head = cells("th", &mut titles.iter().copied());
    let body = rows
        .iter()
        .map(|row| cells("td", &mut row.iter().map(String::as_str)));
    format!(
        "<div class=\"wide\"><table>\n<thead>{head}</thead>\n<tbody>\n{}</tbody>\n</table></div>\n",
        body.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_user_are_no_markup() {
        assert_eq!(escaped("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
        let table = table(&["x<y", "n"], &[vec!["<script>".into(), "1.5".into()]]);
        assert!(
            !table.contains("<script>") && table.contains("x&lt;y"),
            "{table}"
        );
        assert!(table.contains("<td class=\"number\">1.5</td>"), "{table}");
    }
}
