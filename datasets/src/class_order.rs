//! The order of classes, as specified by the user.

use std::fmt;
use std::str::FromStr;

use csv::{ReaderBuilder, WriterBuilder};
use serde::{Deserialize, Serialize};

use crate::double_precision::long_whole;

/// Class labels from the lowest to the highest. The text form is one CSV line: labels with commas
/// or quotes are quoted, quotes within them are doubled, and spaces around labels are ignored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct ClassOrder {
    labels: Vec<String>,
}

/// The reason why labels do not define an order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClassOrderError {
    /// There are fewer than two labels.
    #[error("a class order needs at least two labels, such as low,medium,high")]
    TooFew,
    /// A label is empty.
    #[error("label {0} of the class order is empty; remove a comma or write the label")]
    Empty(usize),
    /// A label occurs twice.
    #[error("the class order has the label {0:?} twice; remove one of them")]
    Repeated(String),
    /// The text is not one CSV line.
    #[error(
        "the class order is not one line of comma-separated labels; write labels with commas or quotes as \"a, b\" and \"say \"\"hi\"\"\""
    )]
    NotOneLine,
}

impl ClassOrder {
    /// The order of labels that are known to be valid classes.
    pub(crate) fn of(labels: Vec<String>) -> Self {
        Self { labels }
    }

    /// The labels, lowest first.
    pub fn labels(&self) -> &[String] {
        &self.labels
    }

    /// The command-line option for a shell, in single quotes if the shell would split or interpret
    /// the text.
    pub fn as_option(&self) -> String {
        let text = self.to_string();
        let is_plain = |c: char| c.is_alphanumeric() || "_-+.,:/@%".contains(c);
        if text.chars().all(is_plain) {
            format!("--class-order {text}")
        } else {
            format!("--class-order '{}'", text.replace('\'', r"'\''"))
        }
    }
}

/// The form of a label for comparison and display: without spaces around it, and with numbers in a standard
/// form. Whole numbers keep all their digits.
pub(crate) fn canonical(text: &str) -> String {
    let text = text.trim();
    match (long_whole(text), text.parse::<f64>()) {
        (Some(digits), _) => digits,
        (None, Ok(value)) if value.is_finite() => number(value),
        _ => text.to_owned(),
    }
}

/// A number as a label; adding zero turns −0 into 0.
pub(crate) fn number(value: f64) -> String {
    (value + 0.0).to_string()
}

impl TryFrom<Vec<String>> for ClassOrder {
    type Error = ClassOrderError;

    fn try_from(labels: Vec<String>) -> Result<Self, ClassOrderError> {
        let labels: Vec<String> = labels.iter().map(|label| canonical(label)).collect();
        if labels.len() < 2 {
            return Err(ClassOrderError::TooFew);
        }
        for (index, label) in labels.iter().enumerate() {
            if label.is_empty() {
                return Err(ClassOrderError::Empty(index + 1));
            }
            if labels[..index].contains(label) {
                let label = label.clone();
                return Err(ClassOrderError::Repeated(label));
            }
        }
        Ok(Self { labels })
    }
}

impl From<ClassOrder> for Vec<String> {
    fn from(order: ClassOrder) -> Self {
        order.labels
    }
}

impl FromStr for ClassOrder {
    type Err = ClassOrderError;

    fn from_str(text: &str) -> Result<Self, ClassOrderError> {
        let mut reader = ReaderBuilder::new()
            .has_headers(false)
            .trim(csv::Trim::All)
            .flexible(true)
            .from_reader(text.as_bytes());
        let mut lines = reader.records();
        let labels = match (lines.next(), lines.next()) {
            (None, _) => return Err(ClassOrderError::TooFew),
            (Some(Ok(line)), None) => line.iter().map(str::to_owned).collect::<Vec<_>>(),
            _ => return Err(ClassOrderError::NotOneLine),
        };
        labels.try_into()
    }
}

impl fmt::Display for ClassOrder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = WriterBuilder::new().from_writer(Vec::new());
        // Writing to memory cannot fail.
        writer.write_record(&self.labels).map_err(|_| fmt::Error)?;
        let line = writer.into_inner().map_err(|_| fmt::Error)?;
        formatter.write_str(String::from_utf8_lossy(&line).trim_end_matches('\n'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_commas_and_quotes_are_read_and_written_as_csv() {
        for (text, labels) in [
            ("low,medium,high", vec!["low", "medium", "high"]),
            (
                r#"no,"yes, a bit","so ""so""""#,
                vec!["no", "yes, a bit", r#"so "so""#],
            ),
            ("grade 2,it's,3", vec!["grade 2", "it's", "3"]),
        ] {
            let order: ClassOrder = text.parse().unwrap();
            assert_eq!(order.labels(), labels);
            assert_eq!(order.to_string(), text);
            assert_eq!(order.to_string().parse(), Ok(order.clone()));
            let json = serde_json::to_string(&order).unwrap();
            assert_eq!(serde_json::from_str::<ClassOrder>(&json).unwrap(), order);
        }
        let spaced: ClassOrder = " low , medium,2.0".parse().unwrap();
        assert_eq!(spaced.labels(), ["low", "medium", "2"]);
    }

    #[test]
    fn orders_that_cannot_be() {
        let error = |text: &str| text.parse::<ClassOrder>().unwrap_err();
        assert_eq!(error(""), ClassOrderError::TooFew);
        assert_eq!(error("one"), ClassOrderError::TooFew);
        assert_eq!(error("a,,b"), ClassOrderError::Empty(2));
        assert_eq!(error("a,b\nc,d"), ClassOrderError::NotOneLine);
        let label = "1".to_owned();
        assert_eq!(error("1,2,1.0"), ClassOrderError::Repeated(label));
        assert!(serde_json::from_str::<ClassOrder>(r#"["a","a"]"#).is_err());
    }

    #[test]
    fn the_option_is_one_word_of_a_shell() {
        let option = |text: &str| text.parse::<ClassOrder>().unwrap().as_option();
        assert_eq!(option("low,high"), "--class-order low,high");
        assert_eq!(option("grade 2,b"), "--class-order 'grade 2,b'");
        assert_eq!(option("it's,b"), r"--class-order 'it'\''s,b'");
        assert_eq!(option(r#""a,b",$c"#), r#"--class-order '"a,b",$c'"#);
    }
}
