//! `burn-gp experiment`: experiments of papers, with the papers' numbers beside ours.

mod computation_aware;
mod course;
mod deep_basis;
mod inverse_free;
mod scaling;
mod solve_gp;

use clap::{ArgMatches, Command, FromArgMatches, Subcommand};

use crate::failure::Failure;
use crate::standard_output::print;
use crate::study::{self, Findings, Request, Study, studies};

/// An experiment: a table that a file describes, or one that has code of its own.
#[derive(Debug)]
pub enum ExperimentCommand {
    /// A study, and what is asked of it.
    Study(&'static Study, Box<Request>),
    /// Another experiment.
    Other(Box<OtherExperiment>),
}

/// The experiments that are more than a grid of training runs.
#[derive(Debug, Subcommand)]
pub enum OtherExperiment {
    /// The experiments, a line each
    List,
    /// Snelson's data with SVGP, ODVGP and SOLVE-GP (arXiv:1910.10596, Figure 2)
    ///
    /// SVGP with 5 and with 10 inducing points, ODVGP with 5 and 100 more for the mean, SOLVE-GP with 5
    /// and 5 orthogonal ones, on 100 rows of Snelson's data; the other 100 rows are held out.
    Snelson(solve_gp::SnelsonOptions),
    /// Whitened and unwhitened SVGP and SOLVE-GP in the course of training (arXiv:1910.10596, Figure 3b)
    ///
    /// SVGP with 2M inducing points and SOLVE-GP with M and M orthogonal ones, each whitened and
    /// unwhitened, trained as in solve-regression; their scores on the test rows in the course of
    /// training. The paper's data set is houseelectric; any other can take its place.
    SolveAblation(solve_gp::AblationOptions),
    /// Time of a training step of SVGP and SOLVE-GP (arXiv:1910.10596, Figure 4 and Table 4)
    ///
    /// Milliseconds of a training step with SVGP(M), ODVGP(M+M), SOLVE-GP(M+M) and SVGP(2M), whitened
    /// and unwhitened, in single precision, medians over the steps; and how many times as long SVGP(2M)
    /// takes as SOLVE-GP(M+M), measured and by counts of multiply-adds. Run it beside nothing else.
    SolveCost(solve_gp::CostOptions),
    /// Loss traces of W-, L- and R-SVGP on two small data sets (arXiv:2604.00697, Figure 1)
    ///
    /// The negative bound of all rows in the course of training on snelson (10 inducing points) and on
    /// banana (64), which stay where they are: W-SVGP, L-SVGP with and without preconditioned mean (P),
    /// and R-SVGP with either, its auxiliary matrix trained by Adam or by natural gradients (N).
    InverseFreeToy(inverse_free::ToyOptions),
    /// NLPD against seconds with W-, L- and R-SVGP on elevators and kin40k (arXiv:2604.00697, Figure 2)
    ///
    /// The protocol is the paper's: squared-exponential kernel, 90 % of the rows to train on, Adam with
    /// learning rate 0.005, batches of 100; R-SVGP with damped inducing points and estimated traces.
    /// With --protocol table-1 the row of Table 1 with one layer.
    ///
    /// The tables have every run that is finished in the folder, whichever the last command asked for,
    /// so that the curves can be made one by one.
    InverseFreeUci(inverse_free::UciOptions),
    /// R-SVGP with traces by 1, 64 and 256 random probes and exactly (arXiv:2604.00697, Figure S1)
    ///
    /// NLPD and loss against seconds on elevators and kin40k, in all else as inverse-free-uci.
    InverseFreeHutchinson(inverse_free::HutchinsonOptions),
    /// Exact, sparse and computation-aware regression where data are absent (arXiv:2411.01036, Figure 1)
    ///
    /// CholeskyGP, SVGP with four inducing points in the gaps of the data, CaGP-CG and CaGP-Opt with
    /// combinations of rows, each with its own hyperparameters; the uncertainty of the last two
    /// in its mathematical and its computational part.
    CagpToy(computation_aware::ToyOptions),
    /// Time and memory of computation-aware regression on more and more rows (arXiv:2411.01036, Section 4)
    ///
    /// Seconds of a step of CaGP-Opt and the memory of its process, each run in a process of its own, on
    /// generated data, with the powers of n·I by which they grow. At the paper's scale up to two
    /// million rows. Run it beside nothing else.
    CagpScale(computation_aware::ScaleOptions),
    /// Actions beside the eigenvectors of the covariance matrix (arXiv:2411.01036, Figure 2)
    ///
    /// The first combinations of rows of CaGP-CG and CaGP-Opt over two inputs, and the distance of their
    /// span, and of that of random vectors, to the first eigenvectors in the course of training.
    CagpActions(computation_aware::ActionsOptions),
    /// The evidence bound and the density of projected data as losses (arXiv:2411.01036, Figures S1, S2)
    ///
    /// CaGP-CG and CaGP-Opt trained with either: densities of held-out rows and the noise in the course of
    /// training, and what the models predict at its end.
    CagpLoss(computation_aware::LossOptions),
    /// Coverage of the intervals of exact, sparse and computation-aware models (arXiv:2411.01036, Figure 4)
    ///
    /// The share of the held-out rows in their central intervals against the nominal one, from the
    /// predictions of the runs of cagp-uci: those that are there, and those that are asked for here and
    /// are not. Without --methods these are sgpr-l-bfgs, svgp, cagp-cg and cagp-opt-adam, and exact at
    /// the paper's scale.
    CagpCoverage(computation_aware::CoverageOptions),
    /// SVGP and computation-aware regression in the course of training (arXiv:2411.01036, Figures 3, 4, S5)
    ///
    /// Loss, NLPD, RMSE, the error of the coverage of 95 %, noise, outputscale and lengthscales against
    /// seconds, in all else as cagp-uci. Without --methods these are svgp and cagp-opt-adam.
    CagpCourse(computation_aware::CourseOptions),
    /// Inducing points of SVGP in more and more dimensions (arXiv:2411.01036, Figure S3)
    ///
    /// How far the trained inducing points are from the data, in trained lengthscales, and how much of the
    /// variance of a target is the function's there, beside exact regression.
    CagpInducing(computation_aware::InducingOptions),
    /// Deep basis kernels, GP and DKL on 100 to 100000 rows in one dimension (arXiv:2505.18526, Figures 1, 3)
    ///
    /// Errors, densities and the time of a step against the number of rows, with the exponent of the
    /// time, and plots of the posteriors with and without correction of the variance.
    DbkSynthetic(deep_basis::DbkSyntheticOptions),
    /// Variances with and without correction beside the optimum (arXiv:2505.18526, Theorem 1, Figure 1)
    ///
    /// With known noise the expected evidence and the expected error of a trained deep basis kernel
    /// beside those of the theorem; with unknown noise posteriors with and without correction of the
    /// variance, whether they cover the function, and the noise in the course of training.
    DbkTheorem1(deep_basis::DbkTheorem1Options),
    /// Cox processes with a deep basis and a stationary kernel (arXiv:2505.18526, appendix A.5)
    ///
    /// Intensities of events with known ones behind them, in one dimension and in two, or of the
    /// events of a file, with the integral of the bound by quadrature and by draws: error, cover,
    /// expected log-likelihood of held-out events, plots. Of coal-mining disasters, for example:
    /// --events disasters.csv --domain 1851.2..1962.2.
    DbkCox(deep_basis::DbkCoxOptions),
    /// Mobile internet quality with SVGP, SVDKL and SVDBK, from a file (arXiv:2505.18526, Figure 4)
    ///
    /// Scores beside the paper's, maps of the predictions, and the kernels around two places. The
    /// data are not part of the program: --data FILE has the columns latitude, longitude and the score
    /// of quality, whose logarithm is predicted. In all else as dbk-uci.
    DbkMobile(deep_basis::DbkMobileOptions),
}

/// Runs `burn-gp experiment`.
///
/// # Errors
///
/// [`Failure`], which says what to do.
pub fn run(command: ExperimentCommand) -> Result<(), Failure> {
    execute(command).map_err(|failure| {
        failure.or_go_on(|| Some("what is finished is kept, and the same command goes on".into()))
    })
}

fn execute(command: ExperimentCommand) -> Result<(), Failure> {
    let other = match command {
        ExperimentCommand::Study(study, request) => {
            let findings = (study.name == "dbk-uci").then_some(deep_basis::exceptions as Findings);
            return study::execute(study, &request, findings);
        }
        ExperimentCommand::Other(other) => *other,
    };
    match other {
        OtherExperiment::List => print(&list()),
        OtherExperiment::Snelson(options) => solve_gp::snelson(&options),
        OtherExperiment::SolveAblation(options) => solve_gp::ablation(&options),
        OtherExperiment::SolveCost(options) => solve_gp::cost(&options),
        OtherExperiment::InverseFreeToy(options) => inverse_free::toy(&options),
        OtherExperiment::InverseFreeUci(options) => inverse_free::uci(&options),
        OtherExperiment::InverseFreeHutchinson(options) => inverse_free::hutchinson(&options),
        OtherExperiment::CagpToy(options) => computation_aware::toy(&options),
        OtherExperiment::CagpScale(options) => computation_aware::scale(&options),
        OtherExperiment::CagpActions(options) => computation_aware::actions(&options),
        OtherExperiment::CagpLoss(options) => computation_aware::loss(&options),
        OtherExperiment::CagpCoverage(options) => computation_aware::coverage(&options),
        OtherExperiment::CagpCourse(options) => computation_aware::course(&options),
        OtherExperiment::CagpInducing(options) => computation_aware::inducing(&options),
        OtherExperiment::DbkSynthetic(options) => deep_basis::synthetic(&options),
        OtherExperiment::DbkTheorem1(options) => deep_basis::theorem1(&options),
        OtherExperiment::DbkCox(options) => deep_basis::cox(&options),
        OtherExperiment::DbkMobile(options) => deep_basis::mobile(&options),
    }
}

/// The studies that are commands by themselves: others are part of an experiment that has their name.
fn commands() -> impl Iterator<Item = &'static Study> {
    let others = OtherExperiment::augment_subcommands(Command::new("experiment"));
    let is_other = move |study: &&Study| others.find_subcommand(&study.name).is_some();
    studies().iter().filter(move |study| !is_other(study))
}

impl Subcommand for ExperimentCommand {
    fn augment_subcommands(command: Command) -> Command {
        let studies = commands().map(Study::command);
        OtherExperiment::augment_subcommands(command).subcommands(studies)
    }

    fn augment_subcommands_for_update(command: Command) -> Command {
        Self::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        OtherExperiment::has_subcommand(name) || commands().any(|study| study.name == name)
    }
}

impl FromArgMatches for ExperimentCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let asked = matches.subcommand().and_then(|(name, matches)| {
            let study = commands().find(|study| study.name == name)?;
            Some((study, matches))
        });
        match asked {
            Some((study, matches)) => Ok(Self::Study(study, Box::new(study.request(matches)?))),
            None => {
                let other = OtherExperiment::from_arg_matches(matches)?;
                Ok(Self::Other(Box::new(other)))
            }
        }
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Name and content of every experiment by name, as its help begins.
fn list() -> String {
    let commands = ExperimentCommand::augment_subcommands(Command::new("experiment"));
    let about = |command: &Command| command.get_about().map(ToString::to_string);
    let mut rows: Vec<(String, String)> = (commands.get_subcommands())
        .filter(|command| command.get_name() != "list")
        .map(|command| {
            (
                command.get_name().to_owned(),
                about(command).unwrap_or_default(),
            )
        })
        .collect();
    rows.sort();
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let line = |(name, about): &(String, String)| format!("{name:<width$}   {about}\n");
    rows.iter().map(line).collect()
}
