//! Tables of a page.

use maud::{Markup, html};

/// A table with a row of titles. Columns of numbers are right-aligned.
pub fn table(titles: &[&str], rows: &[Vec<String>]) -> Markup {
    let is_number = |text: &str| {
        let text = text.trim_end_matches(" %").trim_end_matches(" s");
        text.is_empty() || text == "–" || text.parse::<f64>().is_ok()
    };
    let is_numeric = |column: usize| rows.iter().all(|row| is_number(&row[column]));
    let classes: Vec<Option<&str>> = (0..titles.len())
        .map(|column| is_numeric(column).then_some("number"))
        .collect();
    html! {
        div.wide { table {
            thead { tr { @for (title, class) in titles.iter().zip(&classes) { th class=[class] { (title) } } } }
            tbody { @for row in rows {
                tr { @for (text, class) in row.iter().zip(&classes) { td class=[class] { (text) } } }
            } }
        } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_the_user_are_no_markup() {
        let rows = [vec!["<script> & \"c\"".into(), "1.5".into()]];
        let table = table(&["x<y", "n"], &rows).into_string();
        assert!(!table.contains("<script>"), "{table}");
        assert!(
            table.contains("&lt;script&gt; &amp; &quot;c&quot;"),
            "{table}"
        );
        assert!(table.contains("x&lt;y"), "{table}");
        assert!(table.contains("<td class=\"number\">1.5</td>"), "{table}");
    }
}
