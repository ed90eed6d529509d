//! The steps of a series: months, days, hours, or equal steps of numbers, and the seasons that they have.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Season;

/// A regular series has at least this share of the values between its first and its last time.
const LEAST_SHARE: f64 = 0.6;
/// A number is at a step if it is this close to it, in steps.
const NEAR: f64 = 0.05;
/// The days of a year, on average.
const YEAR: f64 = 365.25;
const SECONDS: f64 = 86_400.0;

/// What the times of a series mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Days since the beginning of 1970, with a fraction for the time of day.
    Days,
    /// Any number.
    Number,
}

/// The steps of a series, and its times in steps.
///
/// ```
/// use burn_gp_models::forecasting::{Calendar, TimeUnit};
///
/// // The first days of January, February, March and May 1970.
/// let calendar = Calendar::new(&[0.0, 31.0, 59.0, 120.0], TimeUnit::Days);
/// assert_eq!(calendar.name(), "monthly");
/// assert_eq!(calendar.seasons()[0].period, 12.0);
/// assert_eq!(calendar.steps(59.0) - calendar.steps(0.0), 2.0);
/// assert_eq!(calendar.text(calendar.steps(120.0) + 1.0), "1970-06-01");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calendar {
    frequency: Frequency,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Frequency {
    /// Steps of some months, which begin with a month of the year, on one day of the month; `None` for its last day.
    Months {
        each: i64,
        start: i64,
        day: Option<i64>,
    },
    /// Monday to Friday.
    BusinessDays,
    /// Steps of some seconds from a time.
    Seconds { each: i64, origin: i64 },
    /// Equal steps of numbers.
    Numbers { each: f64, origin: f64 },
    /// Uneven times in days, in steps of their median difference.
    UnevenDays { each: f64 },
    /// Uneven numbers, in steps of their median difference.
    UnevenNumbers { each: f64 },
}

impl Calendar {
    /// Finds the steps of times in any order; times may repeat. NaN is left out.
    pub fn new(times: &[f64], unit: TimeUnit) -> Self {
        let mut distinct: Vec<f64> = times.iter().copied().filter(|t| t.is_finite()).collect();
        distinct.sort_by(f64::total_cmp);
        distinct.dedup();
        let frequency = match unit {
            TimeUnit::Days => months(&distinct)
                .or_else(|| business_days(&distinct))
                .or_else(|| seconds(&distinct))
                .unwrap_or(Frequency::UnevenDays {
                    each: median_step(&distinct),
                }),
            TimeUnit::Number => numbers(&distinct).unwrap_or(Frequency::UnevenNumbers {
                each: median_step(&distinct),
            }),
        };
        Self { frequency }
    }

    /// Whether all times are whole numbers of steps.
    pub fn is_regular(&self) -> bool {
        !matches!(
            self.frequency,
            Frequency::UnevenDays { .. } | Frequency::UnevenNumbers { .. }
        )
    }

    /// The frequency in words.
    pub fn name(&self) -> String {
        match self.frequency {
            Frequency::Months { each: 1, .. } => "monthly".into(),
            Frequency::Months { each: 3, .. } => "quarterly".into(),
            Frequency::Months { each: 12, .. } => "yearly".into(),
            Frequency::Months { each, .. } => format!("every {each} months"),
            Frequency::BusinessDays => "business days".into(),
            Frequency::Seconds { each, .. } => match each {
                604_800 => "weekly".into(),
                86_400 => "daily".into(),
                3600 => "hourly".into(),
                _ if each % 86_400 == 0 => format!("every {} days", each / 86_400),
                _ if each % 60 == 0 => format!("every {} minutes", each / 60),
                _ => format!("every {each} seconds"),
            },
            Frequency::Numbers { each, .. } => format!("steps of {}", rounded(each)),
            Frequency::UnevenDays { each } => format!("uneven, about every {each:.2} days"),
            Frequency::UnevenNumbers { each } => {
                format!("uneven, steps of about {}", rounded(each))
            }
        }
    }

    /// The seasons that such a series may have: the day, the week and the year, in steps.
    pub fn seasons(&self) -> Vec<Season> {
        let seasons: Vec<Season> = match self.frequency {
            Frequency::Months { each, .. } => match 12 % each {
                0 => vec![Season::named(12.0 / each as f64, "yearly")],
                _ => vec![],
            },
            Frequency::BusinessDays => {
                vec![Season::named(5.0, "weekly"), Season::named(261.0, "yearly")]
            }
            Frequency::Seconds { each, .. } => {
                let each = each as f64 / SECONDS;
                let yearly = (each >= 1.0).then(|| Season::named(YEAR / each, "yearly"));
                let fits = |days: f64| (days / each).fract() == 0.0;
                let weekly = fits(7.0).then(|| Season::named(7.0 / each, "weekly"));
                let daily = fits(1.0).then(|| Season::named(1.0 / each, "daily"));
                daily.into_iter().chain(weekly).chain(yearly).collect()
            }
            _ => vec![],
        };
        seasons
            .into_iter()
            .filter(|season| season.period >= 2.0)
            .collect()
    }

    /// A time in steps.
    pub fn steps(&self, time: f64) -> f64 {
        match self.frequency {
            Frequency::Months { each, start, .. } => {
                let (year, month, _) = date_of(time.floor() as i64);
                (year * 12 + month - 1 - start) as f64 / each as f64
            }
            Frequency::BusinessDays => {
                let day = time.floor() as i64 + MONDAY;
                (day.div_euclid(7) * 5 + day.rem_euclid(7).min(4)) as f64
            }
            Frequency::Seconds { each, origin } => {
                ((seconds_of(time) - origin) as f64 / each as f64).round()
            }
            Frequency::Numbers { each, origin } => ((time - origin) / each).round(),
            Frequency::UnevenDays { each } | Frequency::UnevenNumbers { each } => time / each,
        }
    }

    /// The time of a number of steps.
    pub fn time(&self, steps: f64) -> f64 {
        match self.frequency {
            Frequency::Months { each, start, day } => {
                let month = start + (steps * each as f64).round() as i64;
                let (year, month) = (month.div_euclid(12), month.rem_euclid(12) + 1);
                let first = day_of(year, month, 1);
                let length = match month {
                    12 => day_of(year + 1, 1, 1),
                    _ => day_of(year, month + 1, 1),
                } - first;
                (first + day.unwrap_or(length).min(length) - 1) as f64
            }
            Frequency::BusinessDays => {
                let day = steps.round() as i64;
                (day.div_euclid(5) * 7 + day.rem_euclid(5) - MONDAY) as f64
            }
            Frequency::Seconds { each, origin } => {
                (origin + each * steps.round() as i64) as f64 / SECONDS
            }
            Frequency::Numbers { each, origin } => origin + each * steps,
            Frequency::UnevenDays { each } | Frequency::UnevenNumbers { each } => each * steps,
        }
    }

    /// The time of a number of steps as text: a date, a date with a time of day, or a number.
    pub fn text(&self, steps: f64) -> String {
        let time = self.time(steps);
        match self.frequency {
            Frequency::Numbers { .. } | Frequency::UnevenNumbers { .. } => {
                format!("{}", rounded(time))
            }
            _ => text_of_days(time),
        }
    }

    /// The time of a number of steps as a number for an axis: the year with its fraction for dates.
    pub fn axis_value(&self, steps: f64) -> f64 {
        let time = self.time(steps);
        match self.frequency {
            Frequency::Numbers { .. } | Frequency::UnevenNumbers { .. } => time,
            _ => {
                let (year, ..) = date_of(time.floor() as i64);
                let (first, next) = (day_of(year, 1, 1), day_of(year + 1, 1, 1));
                year as f64 + (time - first as f64) / (next - first) as f64
            }
        }
    }
}

/// A number without the rounding errors of sums and differences of steps.
fn rounded(number: f64) -> f64 {
    (number * 1e9).round() / 1e9
}

/// The days from a Monday to the beginning of 1970, a Thursday.
const MONDAY: i64 = 3;

/// The year, the month and the day of a number of days since the beginning of 1970 in the Gregorian calendar, by
/// counting eras of 400 years from March.
fn date_of(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day = shifted.rem_euclid(146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, of_year - (153 * from_march + 2) / 5 + 1)
}

/// The number of days from the beginning of 1970 to a date.
fn day_of(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let from_march = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * from_march + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn seconds_of(days: f64) -> i64 {
    (days * SECONDS).round() as i64
}

fn text_of_days(time: f64) -> String {
    let seconds = seconds_of(time);
    let (day, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, of_month) = date_of(day);
    let date = format!("{year:04}-{month:02}-{of_month:02}");
    match (rest, rest % 60) {
        (0, _) => date,
        (_, 0) => format!("{date} {:02}:{:02}", rest / 3600, rest / 60 % 60),
        (_, second) => format!(
            "{date} {:02}:{:02}:{second:02}",
            rest / 3600,
            rest / 60 % 60
        ),
    }
}

fn median_step(distinct: &[f64]) -> f64 {
    let mut steps: Vec<f64> = distinct.windows(2).map(|pair| pair[1] - pair[0]).collect();
    steps.sort_by(f64::total_cmp);
    steps.get(steps.len() / 2).copied().unwrap_or(1.0)
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    match b {
        0 => a,
        _ => greatest_common_divisor(b, a % b),
    }
}

/// The greatest common step of increasing numbers, if enough of the steps are there.
fn common_step(numbers: &[i64]) -> Option<i64> {
    let steps = numbers.windows(2).map(|pair| pair[1] - pair[0]);
    let step = steps.reduce(greatest_common_divisor)?;
    let possible = (numbers[numbers.len() - 1] - numbers[0]) / step + 1;
    (numbers.len() as f64 >= LEAST_SHARE * possible as f64).then_some(step)
}

/// Steps of months: all times on one day of the month, or all on its last day.
fn months(distinct: &[f64]) -> Option<Frequency> {
    if distinct.iter().any(|time| time.fract() != 0.0) {
        return None;
    }
    let dates: Vec<_> = distinct.iter().map(|time| date_of(*time as i64)).collect();
    let first = dates.first()?.2;
    let ends_month = |time: &f64| date_of(*time as i64 + 1).2 == 1;
    let day = match dates.iter().all(|(_, _, day)| *day == first) {
        true => Some(first),
        false if distinct.iter().all(ends_month) => None,
        false => return None,
    };
    let index: Vec<i64> = dates
        .iter()
        .map(|(year, month, _)| year * 12 + month - 1)
        .collect();
    let each = common_step(&index)?;
    let start = index[0].rem_euclid(each);
    Some(Frequency::Months { each, start, day })
}

/// Days without Saturdays and Sundays.
fn business_days(distinct: &[f64]) -> Option<Frequency> {
    let is_whole = distinct.iter().all(|time| time.fract() == 0.0);
    let weekday = |time: &f64| (*time as i64 + MONDAY).rem_euclid(7);
    if !is_whole || distinct.len() < 10 || distinct.iter().any(|time| weekday(time) > 4) {
        return None;
    }
    let calendar = Calendar {
        frequency: Frequency::BusinessDays,
    };
    let index: Vec<i64> = distinct
        .iter()
        .map(|time| calendar.steps(*time) as i64)
        .collect();
    (common_step(&index)? == 1).then_some(Frequency::BusinessDays)
}

fn seconds(distinct: &[f64]) -> Option<Frequency> {
    let index: Vec<i64> = distinct.iter().map(|time| seconds_of(*time)).collect();
    let each = common_step(&index)?;
    Some(Frequency::Seconds {
        each,
        origin: *index.first()?,
    })
}

fn numbers(distinct: &[f64]) -> Option<Frequency> {
    let origin = *distinct.first()?;
    let steps = distinct.windows(2).map(|pair| pair[1] - pair[0]);
    let shortest = steps.reduce(f64::min)?;
    // The mean step of times that are all one step apart has fewer rounding errors.
    let total = distinct[distinct.len() - 1] - origin;
    let count = (total / shortest).round();
    let each = total / count;
    let is_near = |time: &f64| {
        let place = (time - origin) / each;
        (place - place.round()).abs() <= NEAR
    };
    let is_regular = distinct.iter().all(is_near);
    let is_dense = distinct.len() as f64 >= LEAST_SHARE * (count + 1.0);
    (is_regular && is_dense).then_some(Frequency::Numbers { each, origin })
}

/// The number of whole steps without a value between the first and the last time of a series.
pub fn missing_steps(steps: &[f64]) -> usize {
    let whole: BTreeSet<i64> = steps.iter().map(|step| step.round() as i64).collect();
    match (whole.first(), whole.last()) {
        (Some(first), Some(last)) => (last - first + 1) as usize - whole.len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(dates: &[(i64, i64, i64)]) -> Vec<f64> {
        let day = |&(year, month, day): &(i64, i64, i64)| day_of(year, month, day) as f64;
        dates.iter().map(day).collect()
    }

    #[test]
    fn dates_and_days_are_inverse() {
        assert_eq!(day_of(1970, 1, 1), 0);
        assert_eq!(day_of(2000, 2, 29), 11_016);
        for day in (-800_000..800_000).step_by(997) {
            let (year, month, of_month) = date_of(day);
            assert_eq!(day_of(year, month, of_month), day);
        }
    }

    #[test]
    fn frequencies_are_found() {
        let ends = days(&[(2023, 12, 31), (2024, 1, 31), (2024, 2, 29), (2024, 3, 31)]);
        let quarters = days(&[(2023, 1, 1), (2023, 4, 1), (2023, 7, 1), (2024, 1, 1)]);
        let years = days(&[(1871, 1, 1), (1872, 1, 1), (1873, 1, 1)]);
        let daily: Vec<f64> = (0..30).map(f64::from).collect();
        let weekdays: Vec<f64> = (0..30)
            .filter(|d| (d + MONDAY) % 7 < 5)
            .map(|d| d as f64)
            .collect();
        let hours: Vec<f64> = (0..50)
            .map(|hour| 19_000.0 + f64::from(hour) / 24.0)
            .collect();
        for (times, name, periods) in [
            (&ends, "monthly", vec![12.0]),
            (&quarters, "quarterly", vec![4.0]),
            (&years, "yearly", vec![]),
            (&daily, "daily", vec![7.0, 365.25]),
            (&weekdays, "business days", vec![5.0, 261.0]),
            (&hours, "hourly", vec![24.0, 168.0]),
        ] {
            let calendar = Calendar::new(times, TimeUnit::Days);
            let found: Vec<f64> = calendar.seasons().iter().map(|s| s.period).collect();
            assert_eq!((calendar.name().as_str(), found), (name, periods));
            // Times and steps are inverse, and steps are whole.
            for time in times.iter() {
                let steps = calendar.steps(*time);
                assert_eq!(steps.fract(), 0.0, "{name}");
                assert!((calendar.time(steps) - time).abs() < 1e-5, "{name}");
            }
        }
    }

    #[test]
    fn the_last_days_of_months_go_on() {
        let ends = days(&[(2023, 11, 30), (2023, 12, 31), (2024, 1, 31)]);
        let calendar = Calendar::new(&ends, TimeUnit::Days);
        assert_eq!(calendar.text(calendar.steps(ends[2]) + 1.0), "2024-02-29");
    }

    #[test]
    fn rounded_numbers_are_regular_and_sparse_ones_are_not() {
        let years: Vec<f64> = (0..48)
            .map(|m| ((1949.0 + f64::from(m) / 12.0) * 1e3).round() / 1e3)
            .collect();
        let calendar = Calendar::new(&years, TimeUnit::Number);
        assert!(calendar.is_regular());
        assert_eq!(calendar.steps(years[47]), 47.0);
        let uneven = Calendar::new(&[0.0, 0.1, 0.3, 1.3, 9.0, 30.0], TimeUnit::Number);
        assert!(!uneven.is_regular());
        assert_eq!(uneven.name(), "uneven, steps of about 1");
    }
}
