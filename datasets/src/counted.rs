//! Counts in sentences.

/// A count with a noun, which gets its regular plural unless the count is 1: `1 row`, `7 test rows`, `3 classes`.
///
/// ```
/// use burn_gp_datasets::counted;
///
/// assert_eq!(counted(1, "test row"), "1 test row");
/// assert_eq!(counted(3, "class"), "3 classes");
/// ```
pub fn counted(count: usize, noun: &str) -> String {
    let ending = match noun.ends_with("ss") {
        true => ["", "es"],
        false => ["", "s"],
    };
    format!("{count} {noun}{}", agreeing(count, ending))
}

/// The first word for a count of 1 and the second for all other counts: a verb such as `["is", "are"]`.
pub fn agreeing(count: usize, [one, several]: [&str; 2]) -> &str {
    match count {
        1 => one,
        _ => several,
    }
}

/// A part of all things with its verb: `1 of 7 rows has`, `2 of 7 rows have`.
pub(crate) fn part_has(count: usize, all: usize, noun: &str) -> String {
    let verb = agreeing(count, ["has", "have"]);
    format!("{count} of {} {verb}", counted(all, noun))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        let rows = [0, 1, 2].map(|count| counted(count, "row"));
        assert_eq!(rows, ["0 rows", "1 row", "2 rows"]);
        let classes = [1, 2].map(|count| counted(count, "class"));
        assert_eq!(classes, ["1 class", "2 classes"]);
        let parts = [1, 2].map(|count| part_has(count, 2, "row"));
        assert_eq!(parts, ["1 of 2 rows has", "2 of 2 rows have"]);
    }
}
