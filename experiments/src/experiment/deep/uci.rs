//! Deep models of small data sets and of elevators.
//!
//! In the manner of H. Salimbeni and M. Deisenroth, *Doubly Stochastic Variational Inference for Deep
//! Gaussian Processes*, arXiv:1705.08933, section 5: 10 % of the rows at random for testing,
//! squared-exponential kernels with a lengthscale for each input, 100 inducing points a layer, as many
//! functions before the last layer as inputs, at most 30, around the identity, 20 000 steps of Adam with
//! learning rate 0.01 and one draw a step. That paper has plots of these numbers, no table.

use clap::Args;
use serde_json::json;

use super::cells::Cell;
use super::plot::draw;
use super::protocol::Protocol;
use super::runs::{Budget, Runs};
use super::table::{Table, by_data};
use crate::arguments::PosteriorName;
use crate::experiment::{
    CommonOptions, ExperimentFolder, data_at_hand::data_at_hand, watch::all_made,
};
use crate::failure::Failure;
use crate::output::names_in;
use crate::standard_output::print;

/// Its name.
const NAME: &str = "deep-uci";

/// The data sets.
const DATA_SETS: [&str; 4] = ["concrete", "energy", "yacht", "elevators"];

/// What `experiment deep-uci` takes.
#[derive(Args, Clone, Debug)]
pub struct DeepUciOptions {
    /// Data sets, such as concrete [default: concrete,energy,yacht,elevators]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    data_sets: Vec<String>,
    /// Which runs, and how large they are.
    #[command(flatten)]
    budget: Budget,
    /// What every experiment takes.
    #[command(flatten)]
    common: CommonOptions,
}

/// The larger scale.
fn large() -> Protocol {
    Protocol {
        inducing: 100,
        batch_size: 1000,
        steps: 20_000,
        learning_rate: 0.01,
        width: None,
        hidden_variance: 0.01,
        plateau: None,
        shallow_noise: 0.1,
        deep_noise: 0.1,
    }
}

fn quick() -> Protocol {
    Protocol {
        inducing: 50,
        batch_size: 250,
        steps: 1000,
        ..large()
    }
}

/// Runs `burn-gp experiment deep-uci`.
///
/// # Errors
///
/// [`Failure`]. Data sets that are absent are named and left out, and so are runs that break off.
pub(in crate::experiment) fn uci(options: &DeepUciOptions) -> Result<(), Failure> {
    let (common, budget) = (&options.common, &options.budget);
    let place = common.place()?;
    place.open()?;
    let data_dir = common.data_dir();
    let asked = &options.data_sets;
    // There are no published numbers that some of them could lack.
    let known: Vec<&str> = asked.iter().map(String::as_str).chain(DATA_SETS).collect();
    let data_sets = data_at_hand(asked, &DATA_SETS, &known, data_dir.as_deref())?;
    let protocol = budget.applied_to(common.by_scale(quick(), large()));
    let settings = json!({
        "protocol": protocol,
        "dtype": place.dtype,
        "device": place.device,
    });
    let folder = ExperimentFolder::open(NAME, common, &settings)?;
    let runs = Runs {
        budget,
        protocol: &protocol,
        posteriors: &[PosteriorName::Whitened],
        seeds: common.by_scale(1, 5),
        common,
        place,
    };
    let broken = runs.make(&data_sets, |data| folder.runs().join(data), &folder)?;
    report(&folder)?;
    all_made(broken)
}

/// The tables and plots of every run that is finished in the folder.
fn report(folder: &ExperimentFolder) -> Result<(), Failure> {
    let mut cells = Vec::new();
    for data in names_in(&folder.runs()) {
        cells.extend(Cell::finished(&folder.runs().join(data), |_| None)?);
    }
    let table = Table {
        cells: &cells,
        published: |_| None,
    };
    table.write(folder, &format!("{NAME}.json"))?;
    for cells in by_data(&cells) {
        let data = &cells[0].first().data;
        draw(&folder.path().join(format!("{data}.svg")), data, cells);
    }
    let mut lines = table.lines();
    lines.push(
        "mean (standard error) over the seeds, in standardized units; NLPD is that of the mixture of \
         the draws,\n-log density the mean over rows and draws"
            .into(),
    );
    lines.push(format!("all of it in {}\n", folder.path().display()));
    print(&lines.join("\n"))
}
