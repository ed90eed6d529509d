//! What is left out of the models of series, with the reason.

/// At most this many series are named in a line.
const NAMED: usize = 3;

/// Inputs and seasons that are left out of the models of some series.
#[derive(Debug, Default)]
pub struct LeftOut(Vec<Entry>);

#[derive(Debug)]
struct Entry {
    what: String,
    why: &'static str,
    series: Vec<String>,
}

impl LeftOut {
    /// Something is left out of the model of a series.
    pub fn add(&mut self, what: &str, why: &'static str, series: &str) {
        let known = (self.0.iter_mut()).find(|entry| entry.what == what && entry.why == why);
        match known {
            Some(entry) => entry.series.push(series.to_owned()),
            None => self.0.push(Entry {
                what: what.to_owned(),
                why,
                series: vec![series.to_owned()],
            }),
        }
    }

    /// A line for each thing. The series are named unless it is left out of all of them, `count` in number.
    pub fn lines(&self, count: usize) -> impl Iterator<Item = String> {
        self.0.iter().map(move |Entry { what, why, series }| {
            let named = series[..series.len().min(NAMED)].join(", ");
            let of = match series.len() {
                all if all == count => String::new(),
                some if some > NAMED => format!(" of {named} and {} more series", some - NAMED),
                _ => format!(" of {named}"),
            };
            format!("{what} is left out{of}: {why}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_are_named_unless_they_are_all() {
        let mut left_out = LeftOut::default();
        for series in ["a", "b", "c", "d"] {
            left_out.add("the season", "it is long", series);
        }
        left_out.add("the event", "it is new", "a");
        let lines: Vec<String> = left_out.lines(4).collect();
        assert_eq!(
            lines,
            [
                "the season is left out: it is long",
                "the event is left out of a: it is new"
            ]
        );
        let first = left_out.lines(9).next();
        assert_eq!(
            first.as_deref(),
            Some("the season is left out of a, b, c and 1 more series: it is long")
        );
    }
}
