//! Dates and times in their common notations.

use std::borrow::Cow;
use std::sync::LazyLock;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, NaiveTime};
use serde::{Deserialize, Serialize};

use super::partial_dates::{completed, is_without_day, without_day};
use crate::raw_column::Cell;

/// A notation of dates or times, as a pattern of `strftime`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DateFormat(String);

/// The days from the first day of year 1 to the beginning of 1970.
const EPOCH: i32 = 719_163;
const SECONDS_PER_DAY: f64 = 86_400.0;
/// Numbers outside this range are probably not years.
const YEARS: std::ops::RangeInclusive<i32> = 1000..=2999;

/// Notations of days. Where day and month cannot be told apart, notations with the month first come first.
const DAYS: [&str; 27] = [
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y%m%d",
    "%d.%m.%Y",
    "%d.%m.%y",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%m-%d-%Y",
    "%d-%m-%Y",
    "%m-%d-%y",
    "%d-%m-%y",
    "%d %B %Y",
    "%d. %B %Y",
    "%B %d, %Y",
    "%B %d %Y",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%d/%b/%Y",
    "%Y-%b-%d",
    "%Y %b %d",
    "%A, %d %B %Y",
    "%A, %B %d, %Y",
    "%A %d %B %Y",
    "%Y年%m月%d日",
];

/// The separators between day and time.
const BETWEEN: [&str; 4] = [" ", "T", ", ", ":"];

/// Notations of times of day.
const TIMES: [&str; 4] = ["%H:%M:%S%.f", "%H:%M", "%I:%M:%S %p", "%I:%M %p"];

/// Notations of times of day that are times only behind a day.
const TIMES_OF_DAYS: [&str; 3] = ["%H.%M.%S", "%H.%M", "%H"];

/// Other notations: without separators, with the year at the end, days of a week, and days of a year.
const OTHERS: [&str; 10] = [
    "%Y%m%dT%H%M%S %#z",
    "%Y%m%dT%H%M%S",
    "%Y%m%dT%H%M %#z",
    "%Y%m%dT%H%M",
    "%Y%m%d%H%M%S",
    "%Y%m%d%H%M",
    "%A %B %d %H:%M:%S %Y",
    "%A %B %d %H:%M:%S UTC %Y",
    "%G-W%V-%u",
    "%Y-%j",
];

/// The notations of whole numbers.
const NUMBERS: [&str; 3] = ["%Y%m%d", "%Y%m%d%H%M", "%Y%m%d%H%M%S"];

/// All notations, in the order in which they are tried.
static FORMATS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut formats: Vec<String> = DAYS.map(str::to_owned).to_vec();
    for day in DAYS {
        for between in BETWEEN {
            for time in TIMES {
                let moment = format!("{day}{between}{time}");
                formats.extend([format!("{moment} %#z"), moment]);
            }
        }
    }
    for day in DAYS {
        for between in [" ", "T"] {
            formats.extend(TIMES_OF_DAYS.map(|time| format!("{day}{between}{time}")));
        }
    }
    let others = OTHERS.into_iter().chain(without_day()).chain(TIMES);
    formats.extend(others.map(str::to_owned));
    formats
});

/// The offset from universal time at the end of a notation.
const OFFSET: &str = " %#z";

/// The end of a notation in which an offset from universal time is left out, so that times are local.
const LOCAL: &str = " (local)";

/// The longest text that is tried as a date.
const LONGEST: usize = 64;

/// The number of texts that decide which notations to try on all texts.
const TRIED: usize = 20;

/// The order of day and month in dates such as 01/02/2021.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateOrder {
    /// The day comes first.
    DayFirst,
    /// The month comes first.
    MonthFirst,
}

impl DateOrder {
    /// The order of day and month in a notation, unless its separator implies the order.
    fn of(format: &str) -> Option<Self> {
        let is = |starts: [&str; 2]| starts.iter().any(|start| format.starts_with(start));
        match format {
            _ if is(["%m/%d", "%m-%d"]) => Some(Self::MonthFirst),
            _ if is(["%d/%m", "%d-%m"]) => Some(Self::DayFirst),
            _ => None,
        }
    }

    /// Whether a notation has the wanted order, if any, or needs none.
    fn suits(format: &str, wanted: Option<Self>) -> bool {
        let own = Self::of(format);
        own.is_none() || wanted.is_none() || own == wanted
    }
}

/// Dates whose meaning depends on whether the day or the month comes first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AmbiguousDates {
    /// The first of them.
    pub text: String,
}

impl DateFormat {
    /// The notation of a column whose source stores dates as days since the beginning of 1970.
    pub(crate) fn days() -> Self {
        Self("days".into())
    }

    /// The first notation in which all `texts` are dates or times, with day and month in the given order.
    ///
    /// # Errors
    /// [`AmbiguousDates`] if no order is given and both are possible.
    pub(crate) fn of<'a>(
        texts: impl Iterator<Item = &'a str> + Clone,
        order: Option<DateOrder>,
    ) -> Result<Option<Self>, AmbiguousDates> {
        let takes = |format: &str| texts.clone().all(|text| read(format, text).is_some());
        let mut formats = FORMATS.iter();
        let found = formats.find(|format| DateOrder::suits(format, order) && takes(format));
        let Some(format) = found else {
            return Ok(None);
        };
        if order.is_none() && DateOrder::of(format) == Some(DateOrder::MonthFirst) {
            let other = (format.replace("%m/%d", "%d/%m")).replace("%m-%d", "%d-%m");
            let differs = |text: &&str| read(format, text) != read(&other, text);
            if let (true, Some(text)) = (takes(&other), texts.clone().find(differs)) {
                return Err(AmbiguousDates { text: text.into() });
            }
        }
        Ok(Some(Self(format.clone())))
    }

    /// The same notation with times of the local clock: an offset from universal time is left out.
    pub(crate) fn local(self) -> Self {
        match self.is_local() || self == Self::days() {
            true => self,
            false => Self(format!("{}{LOCAL}", self.0)),
        }
    }

    /// Whether times are those of the local clock.
    pub(crate) fn is_local(&self) -> bool {
        self.0.ends_with(LOCAL)
    }

    /// Whether times have an offset from universal time.
    pub fn has_offset(&self) -> bool {
        self.0.contains(OFFSET)
    }

    /// The same notation with an offset if it has none, and without it if it has one.
    pub(super) fn with_other_offset(&self) -> Self {
        match self.0.strip_suffix(OFFSET) {
            Some(moment) => Self(moment.to_owned()),
            None => Self(format!("{}{OFFSET}", self.0)),
        }
    }

    /// The notation in which the most texts are dates or times, if there is any, with the number of these
    /// texts.
    pub(crate) fn best(texts: &[String], order: Option<DateOrder>) -> Option<(Self, usize)> {
        let sample = &texts[..texts.len().min(TRIED)];
        let is_wanted = |format: &&String| {
            DateOrder::suits(format, order)
                && sample.iter().any(|text| read(format, text).is_some())
        };
        let counted = FORMATS.iter().filter(is_wanted).map(|format| {
            let read = texts.iter().filter(|text| read(format, text).is_some());
            (Self(format.clone()), read.count())
        });
        // Of equally good notations, the first.
        let best = counted.reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.filter(|(_, count)| *count > 0)
    }

    /// The notation, such as YYYYMMDD, that fits the most whole numbers of a column, with the share of
    /// numbers that it fits.
    pub(crate) fn of_most_numbers(
        values: impl Iterator<Item = f64> + Clone,
    ) -> Option<(Self, f64)> {
        let first = values.clone().take(TRIED).find_map(|value| {
            let mut formats = NUMBERS.iter().map(|format| Self((*format).to_owned()));
            formats.find(|format| format.number(value).is_some())
        })?;
        let read = values
            .clone()
            .filter(|value| first.number(*value).is_some());
        let share = read.count() as f64 / values.count() as f64;
        Some((first, share))
    }

    /// The notation of a column of whole numbers.
    pub(crate) fn of_numbers(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let most = Self::of_most_numbers(values);
        most.filter(|(_, share)| *share == 1.0)
            .map(|(format, _)| format)
    }

    /// Days since the beginning of 1970, with a fraction for the time of day; times without a date
    /// are fractions of a day.
    pub(crate) fn days_of(&self, text: &str) -> Option<f64> {
        read(&self.0, text)
    }

    /// Days since the beginning of 1970 for a cell, as in [`days_of`](Self::days_of).
    pub(crate) fn days_in(&self, cell: Cell<'_>) -> Option<f64> {
        match cell {
            Cell::Number(value) => self.number(value),
            Cell::Text(text) => self.days_of(text),
            Cell::Missing => None,
        }
    }

    /// Whether the year comes first, so that day and month cannot be confused.
    pub(crate) fn has_year_in_front(&self) -> bool {
        self.0.starts_with("%Y") || self.0.starts_with("%G")
    }

    /// Days since the beginning of 1970 for a number, as in [`days_of`](Self::days_of).
    pub(crate) fn number(&self, value: f64) -> Option<f64> {
        match self.0.as_str() {
            "days" => Some(value),
            _ if value.fract() == 0.0 && value > 0.0 => read(&self.0, &value.to_string()),
            _ => None,
        }
    }

    /// Whether the notation has days, not only months.
    pub(super) fn has_days(&self) -> bool {
        self.has_date() && !is_without_day(&self.0)
    }

    /// Whether the notation has a time of day.
    pub(super) fn has_time(&self) -> bool {
        self.0.contains("%H") || self.0.contains("%I") || self.0 == "days"
    }

    /// Whether the notation has a date.
    pub(super) fn has_date(&self) -> bool {
        ["%Y", "%y", "%G", "days"]
            .iter()
            .any(|part| self.0.contains(part))
    }

    /// The date, as in 2024-02-29, of a number of days since the beginning of 1970.
    pub fn day(days: f64) -> String {
        let date = NaiveDate::from_num_days_from_ce_opt(days.floor() as i32 + EPOCH);
        date.map_or_else(|| days.to_string(), |date| date.to_string())
    }
}

fn read(format: &str, text: &str) -> Option<f64> {
    let (format, is_local) = match format.strip_suffix(LOCAL) {
        Some(format) => (format, true),
        None => (format, false),
    };
    let fewest = if is_without_day(format) { 2 } else { 3 };
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let may_fit =
        digits >= fewest && text.len() <= LONGEST && text.contains(':') == format.contains(':');
    if !may_fit {
        return None;
    }
    if format.contains(OFFSET) {
        let zoned = in_universal_time(text);
        let time = DateTime::parse_from_str(&zoned, format).ok()?;
        return moment(match is_local {
            true => time.naive_local(),
            false => time.naive_utc(),
        });
    }
    let (text, format) = completed(text, format)?;
    let (text, format) = (text.as_ref(), format.as_ref());
    let has_time = format.contains("%H") || format.contains("%I");
    match (has_time, format) {
        (true, _) if !format.contains("%d") => {
            let time = NaiveTime::parse_from_str(text, format).ok()?;
            Some(fraction(time))
        }
        (true, "%Y%m%d%H%M") if text.len() != 12 => None,
        (true, "%Y%m%d%H%M%S") if text.len() != 14 => None,
        (true, _) => moment(NaiveDateTime::parse_from_str(text, format).ok()?),
        (false, "%Y%m%d") if text.len() != 8 => None,
        (false, "%Y-%j") if text.len() != 8 => None,
        (false, _) => date(text, format),
    }
}

/// Replaces a name of universal time at the end of a text by an offset.
fn in_universal_time(text: &str) -> Cow<'_, str> {
    let names = ["UTC", "GMT"];
    match names.iter().find_map(|name| text.strip_suffix(name)) {
        Some(time) => format!("{}Z", time.trim_end()).into(),
        None => text.into(),
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
        let format = DateFormat::of(texts.iter().copied(), None).ok()?;
        format.map(|format| format.0)
    }

    #[test]
    fn dates_are_days_since_1970() {
        for (text, days) in [
            ("1970-01-02", 1.0),
            ("1970-01-02T12:00:00Z", 1.5),
            ("1970-01-02 06:00", 1.25),
            ("01/01/1970", 0.0),
            ("01/31/1970", 30.0),
            ("31.12.1969", -1.0),
            ("2 Jan 1970", 1.0),
            ("January 2, 1970", 1.0),
            ("19700102", 1.0),
            ("Feb 1970", 31.0),
            ("1970-02", 31.0),
            ("18:00", 0.75),
        ] {
            let format = DateFormat::of([text].into_iter(), None).unwrap();
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
    fn local_times_have_no_offset() {
        let text = "1970-01-03T00:00:00+02:00";
        let format = DateFormat::of([text].into_iter(), None).unwrap().unwrap();
        assert!(format.has_offset() && !format.is_local());
        assert_eq!(format.days_of(text), Some(1.0 + 22.0 / 24.0));
        let local = format.local();
        assert!(local.has_offset() && local.is_local());
        assert_eq!(local.days_of(text), Some(2.0));
        assert_eq!(local.days_of("1970-01-03T06:00:00Z"), Some(2.25));
        assert_eq!(local.clone().local(), local);
        assert_eq!(DateFormat::days().local(), DateFormat::days());
    }

    #[test]
    fn numbers_that_are_dates() {
        assert!(DateFormat::of_numbers([19_580_329.0, 20_011_229.0].into_iter()).is_some());
        assert!(DateFormat::of_numbers([19_580_329.0, 20_011_329.5].into_iter()).is_none());
        assert!(DateFormat::of_numbers([19_581_329.0].into_iter()).is_none());
        assert_eq!(DateFormat::day(0.5), "1970-01-01");
    }
}
