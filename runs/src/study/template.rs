//! Text templates: `{data}, {n_train} rows[, {d} inputs]`.

use std::fmt;

use serde::{Deserialize, Deserializer, de::Error};

/// A text with names in braces.
///
/// `{a|b}` takes the first name that has a value. A part in brackets is left out if a name in it
/// has no value; `[a=b:text]` is left out unless `a` has the value `b`.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    source: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    /// Names; the first that has a value is used.
    Name(Vec<String>),
    Optional {
        /// A name and its required value.
        condition: Option<(String, String)>,
        parts: Vec<Part>,
    },
}

/// An unbalanced brace or bracket in a template.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{text:?} has an unmatched {bracket}")]
pub struct MalformedTemplate {
    text: String,
    bracket: char,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    ///
    /// [`MalformedTemplate`] if a brace or bracket is not closed.
    pub fn new(text: &str) -> Result<Self, MalformedTemplate> {
        Ok(Self {
            source: text.to_owned(),
            parts: parts(text)?,
        })
    }

    /// The source text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Replaces the names by their values; `None` if a name outside brackets has no value.
    pub fn fill(&self, value: &dyn Fn(&str) -> Option<String>) -> Option<String> {
        fill(&self.parts, value)
    }

    /// Whether the template has this name, within brackets or not.
    pub fn has(&self, name: &str) -> bool {
        self.names().contains(&name)
    }

    /// All names in the template.
    pub fn names(&self) -> Vec<&str> {
        fn collect<'a>(parts: &'a [Part], names: &mut Vec<&'a str>) {
            for part in parts {
                match part {
                    Part::Text(_) => {}
                    Part::Name(own) => names.extend(own.iter().map(String::as_str)),
                    Part::Optional { condition, parts } => {
                        names.extend(condition.iter().map(|(name, _)| name.as_str()));
                        collect(parts, names);
                    }
                }
            }
        }
        let mut names = Vec::new();
        collect(&self.parts, &mut names);
        names
    }

    /// Reads the values of the names back from a filled-in text; `None` if the text does not
    /// match or the template has a part in brackets. A value ends at the last occurrence of the
    /// text that follows it.
    pub fn read(&self, text: &str) -> Option<Vec<(String, String)>> {
        let mut found = Vec::new();
        let mut rest = text;
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            match part {
                Part::Text(text) => rest = rest.strip_prefix(text.as_str())?,
                Part::Name(names) => {
                    let end = match parts.peek() {
                        Some(Part::Text(next)) => rest.rfind(next.as_str())?,
                        _ => rest.len(),
                    };
                    let (value, behind) = rest.split_at(end);
                    found.push((names[0].clone(), value.to_owned()));
                    rest = behind;
                }
                Part::Optional { .. } => return None,
            }
        }
        rest.is_empty().then_some(found)
    }
}

fn parts(text: &str) -> Result<Vec<Part>, MalformedTemplate> {
    let malformed = |bracket| MalformedTemplate {
        text: text.to_owned(),
        bracket,
    };
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '[']) {
        if at > 0 {
            parts.push(Part::Text(rest[..at].to_owned()));
        }
        let (open, close) = match rest.as_bytes()[at] {
            b'{' => ('{', '}'),
            _ => ('[', ']'),
        };
        let inner = &rest[at + 1..];
        let end = inner.find(close).ok_or_else(|| malformed(open))?;
        let (inner, behind) = (&inner[..end], &inner[end + 1..]);
        parts.push(match open {
            '{' => Part::Name(inner.split('|').map(str::to_owned).collect()),
            _ => optional(inner)?,
        });
        rest = behind;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Ok(parts)
}

fn optional(inner: &str) -> Result<Part, MalformedTemplate> {
    let is_word = |text: &str| {
        let is_letter = |letter: char| letter.is_alphanumeric() || "_.-".contains(letter);
        !text.is_empty() && text.chars().all(is_letter)
    };
    let conditional = inner.split_once(':').and_then(|(head, text)| {
        let (name, value) = head.split_once('=')?;
        (is_word(name) && is_word(value)).then(|| ((name.to_owned(), value.to_owned()), text))
    });
    let (condition, text) = match conditional {
        Some((condition, text)) => (Some(condition), text),
        None => (None, inner),
    };
    Ok(Part::Optional {
        condition,
        parts: parts(text)?,
    })
}

fn fill(parts: &[Part], value: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(own) => text += own,
            Part::Name(names) => text += &names.iter().find_map(|name| value(name))?,
            Part::Optional { condition, parts } => {
                let holds = condition
                    .as_ref()
                    .is_none_or(|(name, wanted)| value(name).is_some_and(|found| found == *wanted));
                text += &holds
                    .then(|| fill(parts, value))
                    .flatten()
                    .unwrap_or_default();
            }
        }
    }
    Some(text)
}

impl fmt::Display for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.source)
    }
}

impl<'de> Deserialize<'de> for Template {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(template: &str) -> Option<String> {
        let value = |name: &str| match name {
            "data" => Some("bike".to_owned()),
            "rows" => Some("near".to_owned()),
            "m" => Some("8".to_owned()),
            _ => None,
        };
        Template::new(template).unwrap().fill(&value)
    }

    #[test]
    fn names_stand_for_values_and_brackets_may_be_left_out() {
        for (template, expected) in [
            ("{data}, {m} points", Some("bike, 8 points")),
            ("{i|m} of {data}", Some("8 of bike")),
            (
                "{data}[, {m} points][, {i} actions]",
                Some("bike, 8 points"),
            ),
            (
                "{data}[rows=near:, near rows][rows=given:, given]",
                Some("bike, near rows"),
            ),
            ("{i}", None),
            ("", Some("")),
        ] {
            assert_eq!(filled(template).as_deref(), expected, "{template}");
        }
        assert!(Template::new("{data").is_err() && Template::new("a[b").is_err());
    }

    #[test]
    fn a_filled_text_is_read() {
        let template = Template::new("{method}-rank-{rank}").unwrap();
        let pairs = template.read("dbk-c-rank-4").unwrap();
        let expected = [("method", "dbk-c"), ("rank", "4")];
        assert_eq!(
            pairs,
            expected.map(|(name, value)| (name.to_owned(), value.to_owned()))
        );
        assert_eq!(template.read("dbk"), None);
        assert_eq!(template.names(), ["method", "rank"]);
    }
}
