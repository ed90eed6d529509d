//! Dates and times in their usual notations.

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime};
use serde::{Deserialize, Serialize};

use crate::raw_column::Cell;

/// A notation of dates or times, as a pattern of `strftime`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DateFormat(String);

/// The days before 1970, counted from the first day of year 1.
const EPOCH: i32 = 719_163;
const SECONDS_PER_DAY: f64 = 86_400.0;
/// Years outside this range are more likely numbers of another kind.
const YEARS: std::ops::RangeInclusive<i32> = 1000..=2999;

/// Notations, the more specific of two first; where day and month cannot be told apart, the month
/// comes first.
const FORMATS: [&str; 35] = [
    "%Y-%m-%dT%H:%M:%S%.f%#z",
    "%Y-%m-%d %H:%M:%S%.f%#z",
    "%Y-%m-%dT%H:%M:%S%.f",
    "%Y-%m-%d %H:%M:%S%.f",
    "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M",
    "%Y/%m/%d %H:%M:%S%.f",
    "%Y/%m/%d %H:%M",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%m/%d/%y %H:%M",
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d.%m.%Y",
    "%d.%m.%y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%m-%d-%Y",
    "%d-%m-%Y",
    "%d %B %Y",
    "%B %d, %Y",
    "%B %d %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%Y%m%d",
    "%B %Y",
    "%Y-%m",
    "%H:%M:%S%.f",
    "%H:%M",
];

impl DateFormat {
    /// The notation of a column whose source stores dates as days since the beginning of 1970.
    pub(crate) fn days() -> Self {
        Self("days".into())
    }

    /// The first notation in which all `texts` are dates or times.
    pub(crate) fn of<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Option<Self> {
        let mut formats = FORMATS.iter();
        let format = formats.find(|format| texts.clone().all(|text| read(format, text).is_some()));
        format.map(|format| Self((*format).to_owned()))
    }

    /// The notation YYYYMMDD of a column of whole numbers.
    pub(crate) fn of_numbers(mut values: impl Iterator<Item = f64>) -> Option<Self> {
        let format = Self("%Y%m%d".into());
        (values.all(|value| format.number(value).is_some())).then_some(format)
    }

    /// Days since the beginning of 1970, with a fraction for the time of day; times without a date
    /// are fractions of a day.
    pub(crate) fn days_of(&self, text: &str) -> Option<f64> {
        read(&self.0, text)
    }

    /// The same for a cell.
    pub(crate) fn days_in(&self, cell: Cell<'_>) -> Option<f64> {
        match cell {
            Cell::Number(value) => self.number(value),
            Cell::Text(text) => self.days_of(text),
            Cell::Missing => None,
        }
    }

    /// Whether the year comes first, so that day and month cannot be confused.
    pub(super) fn has_year_in_front(&self) -> bool {
        self.0.starts_with("%Y")
    }

    /// The same for a number.
    pub(crate) fn number(&self, value: f64) -> Option<f64> {
        match self.0.as_str() {
            "days" => Some(value),
            _ if value.fract() == 0.0 && value > 0.0 => read(&self.0, &value.to_string()),
            _ => None,
        }
    }

    /// Whether it has days, not only months.
    pub(super) fn has_days(&self) -> bool {
        self.0.contains("%d") || self.0 == "days"
    }

    /// Whether it has a time of day.
    pub(super) fn has_time(&self) -> bool {
        self.0.contains("%H") || self.0 == "days"
    }

    /// Whether it has a date.
    pub(super) fn has_date(&self) -> bool {
        self.0.contains("%Y") || self.0.contains("%y") || self.0 == "days"
    }

    /// The date, as in 2024-02-29, of a number of days since the beginning of 1970.
    pub fn day(days: f64) -> String {
        let date = NaiveDate::from_num_days_from_ce_opt(days.floor() as i32 + EPOCH);
        date.map_or_else(|| days.to_string(), |date| date.to_string())
    }
}

fn read(format: &str, text: &str) -> Option<f64> {
    if format.contains("%#z") {
        let time = DateTime::parse_from_str(text, format).ok()?;
        return moment(time.naive_utc());
    }
    match (format.contains("%H"), format) {
        (true, _) if !format.contains("%d") => {
            let time = NaiveTime::parse_from_str(text, format).ok()?;
            Some(fraction(time))
        }
        (true, _) => moment(NaiveDateTime::parse_from_str(text, format).ok()?),
        (false, "%Y%m%d") if text.len() != 8 => None,
        (false, "%Y-%m") => date(&format!("{text}-01"), "%Y-%m-%d"),
        (false, "%B %Y") => date(&format!("1 {text}"), "%d %B %Y"),
        (false, _) => date(text, format),
    }
}

fn date(text: &str, format: &str) -> Option<f64> {
    days(NaiveDate::parse_from_str(text, format).ok()?)
}

fn moment(time: NaiveDateTime) -> Option<f64> {
    Some(days(time.date())? + fraction(time.time()))
}

fn days(date: NaiveDate) -> Option<f64> {
    let days = f64::from(date.num_days_from_ce() - EPOCH);
    YEARS.contains(&date.year()).then_some(days)
}

fn fraction(time: NaiveTime) -> f64 {
    let since = time.signed_duration_since(NaiveTime::MIN);
    since.num_milliseconds() as f64 / 1000.0 / SECONDS_PER_DAY
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(texts: &[&str]) -> Option<String> {
        DateFormat::of(texts.iter().copied()).map(|format| format.0)
    }

    #[test]
    fn dates_are_days_since_1970() {
        for (text, days) in [
            ("1970-01-02", 1.0),
            ("1970-01-02T12:00:00Z", 1.5),
            ("1970-01-02 06:00", 1.25),
            ("01/02/1970", 1.0),
            ("31.12.1969", -1.0),
            ("2 Jan 1970", 1.0),
            ("January 2, 1970", 1.0),
            ("19700102", 1.0),
            ("Feb 1970", 31.0),
            ("1970-02", 31.0),
            ("18:00", 0.75),
        ] {
            let format = DateFormat::of([text].into_iter());
            let found = format.and_then(|format| format.days_of(text));
            assert_eq!(found, Some(days), "{text}");
        }
    }

    #[test]
    fn all_texts_must_have_one_notation() {
        assert_eq!(format(&["01/02/1970", "13/02/1970"]).unwrap(), "%d/%m/%Y");
        assert_eq!(format(&["01/02/1970", "02/13/1970"]).unwrap(), "%m/%d/%Y");
        assert_eq!(format(&["01/02/99", "02/13/99"]).unwrap(), "%m/%d/%y");
        for texts in [
            &["1970-01-02", "tomorrow"][..],
            &["13/13/1970"],
            &["2001-02-30"],
            &["a"],
            &["1.5"],
        ] {
            assert_eq!(format(texts), None, "{texts:?}");
        }
    }

    #[test]
    fn numbers_that_are_dates() {
        assert!(DateFormat::of_numbers([19_580_329.0, 20_011_229.0].into_iter()).is_some());
        assert!(DateFormat::of_numbers([19_580_329.0, 20_011_329.5].into_iter()).is_none());
        assert!(DateFormat::of_numbers([19_581_329.0].into_iter()).is_none());
        assert_eq!(DateFormat::day(0.5), "1970-01-01");
    }
}
