//! Deep models of kin40k (Section 4.3, Table 1).
//!
//! One to three layers with the posteriors of the paper: whitened (W-SVGP), L-SVGP and R-SVGP. As in
//! the paper: 10 % of the rows at random for testing, everything standardized, squared-exponential
//! kernels with a lengthscale for each input, 500 inducing points a layer, batches of 1000, 200 000
//! steps of Adam with learning rate 0.005 and one draw a step, 100 draws for a prediction; R-SVGP with
//! log-linear step sizes down to a residual of 1e-9.
//!
//! Deep models as in the authors' program: eight functions in each layer before the last, around the
//! identity; lengthscales start at 2, the variances of the kernels at 1e-4 before the last layer and
//! at 1 in it, the noise variance at 0.1, inducing variables at a hundredth of the prior's deviation;
//! the learning rate goes down by 0.95 after 1000 steps without a lower loss. A single layer starts at
//! lengthscales, variance and noise of 1, at the prior, and keeps its learning rate.
//!
//! The paper's NLPD is the mean of log densities over rows and draws. That of the predictive
//! distribution, a mixture of the draws, is never more, and stands beside it.

use clap::Args;
use serde_json::json;

use super::cells::{Cell, Run};
use super::plot::draw;
use super::protocol::Protocol;
use super::runs::{Budget, Runs};
use super::table::Table;
use crate::arguments::{PosteriorName, RunOptions};
use crate::experiment::{
    CommonOptions, ExperimentFolder, Reported, data_at_hand::data_at_hand, watch::all_made,
};
use crate::failure::Failure;
use crate::standard_output::print;

/// Its name.
const NAME: &str = "deep-kin40k";
const DATA: &str = "kin40k";

/// The posteriors of the paper.
const POSTERIORS: [PosteriorName; 3] = [
    PosteriorName::Whitened,
    PosteriorName::LSvgp,
    PosteriorName::InverseFree,
];

/// Seeds of the paper.
const SEEDS: u64 = 5;

/// What `experiment deep-kin40k` takes.
#[derive(Args, Clone, Debug)]
pub struct Kin40kOptions {
    /// Which runs, and how large they are.
    #[command(flatten)]
    budget: Budget,
    /// What every experiment takes.
    #[command(flatten)]
    common: CommonOptions,
}

/// The protocol of the paper.
fn paper() -> Protocol {
    Protocol {
        inducing: 500,
        batch_size: 1000,
        steps: 200_000,
        learning_rate: 5e-3,
        width: Some(8),
        hidden_variance: 1e-4,
        plateau: Some(1000),
        shallow_noise: 1.0,
        deep_noise: 0.1,
    }
}

/// The same, smaller.
fn quick() -> Protocol {
    Protocol {
        inducing: 100,
        batch_size: 250,
        steps: 1000,
        ..paper()
    }
}

/// Runs `burn-gp experiment deep-kin40k`.
///
/// # Errors
///
/// [`Failure`], which says what to do; runs that break off are named and left out.
pub(in crate::experiment) fn kin40k(options: &Kin40kOptions) -> Result<(), Failure> {
    let (common, budget) = (&options.common, &options.budget);
    let place = common.place()?;
    place.open()?;
    let data_sets = data_at_hand(&[], &[DATA], &[DATA], common.data_dir().as_deref())?;
    let protocol = budget.applied_to(common.by_scale(quick(), paper()));
    let settings = json!({
        "protocol": protocol,
        "dtype": place.dtype,
        "device": place.device,
    });
    let folder = ExperimentFolder::open(NAME, common, &settings)?;
    let runs = Runs {
        budget,
        protocol: &protocol,
        posteriors: &POSTERIORS,
        seeds: common.by_scale(1, SEEDS),
        common,
        place,
    };
    let broken = runs.make(&data_sets, |_| folder.path().to_owned(), &folder)?;
    let in_paper = |run: &Run| {
        let options = paper().options(&common.as_in_paper(), place, run.depth, run.posterior);
        published(run).map(|_| RunOptions {
            data: Some(DATA.to_owned()),
            ..options
        })
    };
    report(&Cell::finished(folder.path(), in_paper)?, &folder)?;
    all_made(broken)
}

/// Table 1.
fn published(run: &Run) -> Option<Reported> {
    let (mean, standard_error) = match (run.depth, run.posterior) {
        (1, PosteriorName::Whitened) => (-0.38, 0.001),
        (1, PosteriorName::LSvgp | PosteriorName::InverseFree) => (-0.39, 0.002),
        (2, PosteriorName::Whitened) => (-1.86, 0.03),
        (2, PosteriorName::LSvgp | PosteriorName::InverseFree) => (-1.88, 0.02),
        (3, PosteriorName::Whitened) => (-2.39, 0.03),
        (3, PosteriorName::LSvgp | PosteriorName::InverseFree) => (-2.64, 0.01),
        _ => return None,
    };
    Some(Reported {
        mean,
        standard_error,
    })
}

/// The table and the plot of every run that is finished in the folder.
fn report(cells: &[Cell], folder: &ExperimentFolder) -> Result<(), Failure> {
    let table = Table { cells, published };
    table.write(folder, &format!("{NAME}.json"))?;
    if !cells.is_empty() {
        draw(&folder.path().join("loss.svg"), DATA, cells);
    }
    let mut lines = table.lines();
    lines.push(
        "mean (standard error) over the seeds, in standardized units; -log density is the paper's \
         NLPD, a mean over rows\nand draws of the layers before the last, NLPD that of the draws' \
         mixture; the paper is arXiv:2604.00697, Table 1,\n500 inducing points a layer after \
         200 000 steps"
            .into(),
    );
    lines.extend(table.departures());
    lines.push(format!("all of it in {}\n", folder.path().display()));
    print(&lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::departures::testing::{departures_between, typed};

    #[test]
    fn other_sizes_are_departures_from_the_paper() {
        for (line, expected) in [
            ("--scale paper", ""),
            ("--steps 200000 --inducing 500 --batch-size 1000", ""),
            (
                "--scale paper --batch-size 10",
                "batch-size 10 instead of 1000",
            ),
        ] {
            let options: Kin40kOptions = typed(line);
            let common = &options.common;
            let place = common.place().unwrap();
            let protocol = (options.budget).applied_to(common.by_scale(quick(), paper()));
            for depth in [1, 3] {
                let told = |protocol: &Protocol, common: &CommonOptions| {
                    protocol.options(common, place, depth, PosteriorName::Whitened)
                };
                let here = told(&protocol, common);
                let paper = told(&paper(), &common.as_in_paper());
                assert_eq!(departures_between(here, paper), expected, "{line}");
            }
        }
    }
}
