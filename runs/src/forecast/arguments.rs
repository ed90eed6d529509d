//! The options of `forecast`.

use std::path::PathBuf;

use burn_gp_datasets::{DateOrder, TargetColumn};
use burn_gp_models::forecasting::{Season, Transform};
use clap::{Args, ValueEnum};

use crate::failure::Failure;
use crate::ranges::{MOST_SIZE, from_one_to, within};

/// The options of `forecast`.
#[derive(Debug, Args)]
pub struct ForecastArguments {
    /// Table with one row for each time, or for each series and time: a file, or - for text from the
    /// standard input
    #[arg(
        short,
        long,
        value_name = "FILE",
        required_unless_present = "model_dir"
    )]
    pub data: Option<String>,
    /// Column with the times: dates, dates with times of day, or numbers [default: the first column of
    /// dates]
    #[arg(long, value_name = "COLUMN")]
    pub time: Option<String>,
    /// Column to forecast [default: the last column]
    #[arg(long, value_name = "COLUMN")]
    pub target: Option<TargetColumn>,
    /// Column that names the series of each row [default: all rows are one series]
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<TargetColumn>,
    /// Number of steps to forecast [default: two of the shortest seasons, or 10]
    #[arg(long, value_name = "STEPS")]
    pub horizon: Option<usize>,
    /// Periods of seasons in steps, such as 7,365.25; `none` for no season [default: day, week and year,
    /// whenever longer than one step]
    #[arg(long, value_name = "STEPS,...", value_delimiter = ',')]
    pub season: Vec<String>,
    /// Transformation of the values
    #[arg(long, value_name = "NAME", value_enum, default_value_t = TransformChoice::Auto)]
    pub transform: TransformChoice,
    /// Coverage of the central intervals [default: 0.8,0.95]
    #[arg(
        long,
        value_name = "P,...",
        value_delimiter = ',',
        allow_negative_numbers = true,
        default_values_t = [0.8, 0.95],
        hide_default_value = true
    )]
    pub levels: Vec<f64>,
    /// Number of forecasts of the past that are scored, each from the values before it; 0 for none
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    pub origins: usize,
    /// Columns of numbers or categories with an effect on the values. Future values come from --future, or
    /// from rows of the data whose target is empty
    #[arg(long, value_name = "COLUMN,...", value_delimiter = ',')]
    pub covariates: Vec<String>,
    /// Table with the columns of the data at times of the forecast; values are not needed
    #[arg(long, value_name = "FILE")]
    pub future: Option<String>,
    /// Table of events such as holidays: the column of times, `event` with their names, optionally the --by
    /// column, and `window`: for how many more steps the event lasts
    #[arg(long, value_name = "FILE")]
    pub events: Option<String>,
    /// Update the models of this folder with the new rows of --data and forecast, without retraining
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["time", "target", "by", "season", "transform", "covariates", "events", "origins", "date_order"]
    )]
    pub model_dir: Option<PathBuf>,
    /// Order of day and month in dates such as 01/02/2021
    #[arg(long, value_name = "ORDER", value_enum)]
    pub date_order: Option<OrderChoice>,
    /// Output folder [default: NAME-forecast, after the data]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace the results in the output folder
    #[arg(long)]
    pub overwrite: bool,
}

/// The choices of a transformation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TransformChoice {
    /// The logarithm if it gives positive values a higher density
    Auto,
    /// The values as they are
    None,
    /// The logarithm, for positive values
    Log,
}

impl TransformChoice {
    /// The transformation, unless it is chosen by the values.
    pub fn given(self) -> Option<Transform> {
        match self {
            Self::Auto => None,
            Self::None => Some(Transform::None),
            Self::Log => Some(Transform::Log),
        }
    }
}

/// The order of day and month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OrderChoice {
    /// The day comes first
    DayFirst,
    /// The month comes first
    MonthFirst,
}

impl From<OrderChoice> for DateOrder {
    fn from(order: OrderChoice) -> Self {
        match order {
            OrderChoice::DayFirst => Self::DayFirst,
            OrderChoice::MonthFirst => Self::MonthFirst,
        }
    }
}

/// The largest number of origins.
const MOST_ORIGINS: usize = 1000;
/// The shortest and the longest period of a season.
const PERIODS: std::ops::RangeInclusive<f64> = 2.0..=1e5;

impl ForecastArguments {
    /// Checks what is wrong whatever the data are, and returns the given seasons, if any.
    pub(super) fn check(&self) -> Result<Option<Vec<Season>>, Failure> {
        from_one_to(MOST_SIZE, "--horizon", self.horizon)?;
        let range = format!("be at most {MOST_ORIGINS}");
        within(
            "--origins",
            self.origins,
            self.origins <= MOST_ORIGINS,
            range,
        )?;
        for &level in &self.levels {
            let is_level = level > 0.0 && level < 1.0;
            let range = "lie strictly between 0 and 1; 0.8,0.95 is common";
            within("--levels", level, is_level, range)?;
        }
        self.seasons()
    }

    fn seasons(&self) -> Result<Option<Vec<Season>>, Failure> {
        match self.season.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => return Ok(None),
            ["none"] => return Ok(Some(Vec::new())),
            _ => {}
        }
        let season = |text: &String| match text.trim().parse::<f64>() {
            Ok(period) if PERIODS.contains(&period) => Ok(Season::of_steps(period)),
            _ => Err(Failure::Arguments(format!(
                "--season is {text} but must be a number of steps from 2 on, several of them separated by commas, or none"
            ))),
        };
        self.season
            .iter()
            .map(season)
            .collect::<Result<_, _>>()
            .map(Some)
    }
}
