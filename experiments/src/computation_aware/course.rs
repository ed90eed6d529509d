//! SVGP and CaGP-Opt during training (Figures 3, 4 and S5).
//!
//! The runs are those of cagp-uci, with evaluations on the test rows. The paper shows the
//! means over the seeds; Figure 4 shows only Power.

use burn_gp_runs::{
    arguments::name_of,
    failure::Failure,
    study::{self, CommonOptions, ExperimentFolder, all_made},
};
use clap::Args;
use serde_json::json;

use super::course_report::report;
use super::{CellsOfTable1, TABLE_1};

/// The name of the experiment.
pub(super) const NAME: &str = "cagp-course";

/// The default models.
const DEFAULT: [&str; 2] = ["svgp", "cagp-opt-adam"];

/// The share of the steps between two evaluations on the test rows.
const INTERVAL: f64 = 0.025;

/// The options of `experiment cagp-course`.
#[derive(Args, Clone, Debug)]
pub struct CourseOptions {
    /// The runs and their size.
    #[command(flatten)]
    runs: CellsOfTable1,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

/// Runs `burn-gp experiment cagp-course`.
///
/// # Errors
///
/// [`Failure`]. Missing data sets and failed runs are reported and left out.
pub(crate) fn course(options: &CourseOptions) -> Result<(), Failure> {
    let common = &options.common;
    let (table, mut request) = (study::named(TABLE_1), options.runs.request(common));
    request.choice.among = Some(DEFAULT.iter().map(ToString::to_string).collect());
    request.choice.check(table)?;
    let place = common.place()?;
    place.open()?;
    let mut planned = study::planned(table, &request, &request.data_sets(table)?)?;
    for (_, options) in &mut planned {
        options.score_every = Some(INTERVAL);
    }
    let settings = json!({
        "scale": name_of(common.scale),
        "budget": request.choice.given,
        "device": place.device,
    });
    let folder = ExperimentFolder::open(NAME, common, &settings)?;
    let broken = study::make(table, &request, &planned, &folder)?;
    report(&folder, &request)?;
    all_made(broken)
}
