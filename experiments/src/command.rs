//! `burn-gp experiment`: experiments of papers, with published values beside ours.

use burn_gp_runs::{
    failure::Failure,
    standard_output::print,
    study::{self, Request, Study},
};
use clap::{ArgMatches, Command, FromArgMatches, Subcommand};

use crate::{computation_aware, deep_basis, inverse_free, solve_gp};

/// An experiment: a study, or one with its own code.
#[derive(Debug)]
pub enum ExperimentCommand {
    /// A study and the user's request.
    Study(&'static Study, Box<Request>),
    /// An experiment with its own code.
    Other(Box<OtherExperiment>),
}

/// The experiments that are more than a grid of training runs.
#[derive(Debug, Subcommand)]
pub enum OtherExperiment {
    /// List the experiments, one line each
    List,
    /// Snelson's data with SVGP, ODVGP and SOLVE-GP (arXiv:1910.10596, Figure 2)
    ///
    /// SVGP with 5 and with 10 inducing points, ODVGP with 5 plus 100 for the mean, and SOLVE-GP with
    /// 5 plus 5 orthogonal points, on 100 rows of Snelson's data; the other 100 rows are held out.
    Snelson(solve_gp::SnelsonOptions),
    /// Time of a training step of SVGP and SOLVE-GP (arXiv:1910.10596, Figure 4 and Table 4)
    ///
    /// Milliseconds of a training step of SVGP(M), ODVGP(M+M), SOLVE-GP(M+M) and SVGP(2M), whitened
    /// and unwhitened, in single precision, as medians over the steps; and the ratio of SVGP(2M) to
    /// SOLVE-GP(M+M), measured and by counts of multiply-adds. Run nothing else at the same time.
    SolveCost(solve_gp::CostOptions),
    /// Loss traces of W-, L- and R-SVGP on two small data sets (arXiv:2604.00697, Figure 1)
    ///
    /// The negative bound of all rows during training on snelson (10 inducing points) and banana
    /// (64), with fixed inducing points: W-SVGP, L-SVGP with and without preconditioned mean (P),
    /// and R-SVGP with both, its auxiliary matrix trained by Adam or by natural gradients (N).
    InverseFreeToy(inverse_free::ToyOptions),
    /// Exact, sparse and computation-aware regression with gaps in the data (arXiv:2411.01036,
    /// Figure 1)
    ///
    /// CholeskyGP, SVGP with four inducing points in the gaps of the data, CaGP-CG and CaGP-Opt,
    /// each with its own hyperparameters; for the last two, the uncertainty is split into its
    /// mathematical and computational parts.
    CagpToy(computation_aware::ToyOptions),
    /// Time and memory of computation-aware regression for increasing numbers of rows
    /// (arXiv:2411.01036, Section 4)
    ///
    /// Seconds per step of CaGP-Opt and peak memory of its process on synthetic data, with the
    /// exponents of their growth in n·I. Every run is a separate process. The paper scale has up to
    /// two million rows. Run nothing else at the same time.
    CagpScale(computation_aware::ScaleOptions),
    /// Actions and the eigenvectors of the covariance matrix (arXiv:2411.01036, Figure 2)
    ///
    /// The first actions of CaGP-CG and CaGP-Opt over two inputs, and the distance from their span,
    /// and from the span of random vectors, to the first eigenvectors during training.
    CagpActions(computation_aware::ActionsOptions),
    /// The evidence bound and the density of projected data as losses (arXiv:2411.01036, Figures
    /// S1, S2)
    ///
    /// CaGP-CG and CaGP-Opt trained with each loss: densities of held-out rows and the noise during
    /// training, and the final predictions.
    CagpLoss(computation_aware::LossOptions),
    /// Coverage of the intervals of exact, sparse and computation-aware models (arXiv:2411.01036,
    /// Figure 4)
    ///
    /// The share of held-out rows in their central intervals against the nominal coverage, from the
    /// predictions of the runs of cagp-uci; missing runs are added. The default
    /// of --methods is sgpr-l-bfgs, svgp, cagp-cg and cagp-opt-adam, and at paper scale also exact.
    CagpCoverage(computation_aware::CoverageOptions),
    /// Learning curves of SVGP and computation-aware regression (arXiv:2411.01036, Figures 3, 4,
    /// S5)
    ///
    /// Loss, NLPD, RMSE, the error of the 95 % coverage, noise, outputscale and lengthscales
    /// against seconds; other settings as in cagp-uci. The default of --methods is svgp and
    /// cagp-opt-adam.
    CagpCourse(computation_aware::CourseOptions),
    /// Inducing points of SVGP in increasing dimensions (arXiv:2411.01036, Figure S3)
    ///
    /// The distance from the trained inducing points to the data, in trained lengthscales, and the
    /// function's share of the variance of a target there, compared with exact regression.
    CagpInducing(computation_aware::InducingOptions),
    /// Deep basis kernels, GP and DKL on 100 to 100000 rows in one dimension (arXiv:2505.18526,
    /// Figures 1, 3)
    ///
    /// Errors, densities and the time of a step against the number of rows, with the exponent of
    /// the time, and plots of the posteriors with and without variance correction.
    DbkSynthetic(deep_basis::DbkSyntheticOptions),
    /// Variances with and without correction, compared with the optimum (arXiv:2505.18526, Theorem
    /// 1, Figure 1)
    ///
    /// For known noise, the expected evidence and the expected error of a trained deep basis
    /// kernel, compared with those of the theorem; for unknown noise, posteriors with and without
    /// variance correction, whether they cover the function, and the noise during training.
    DbkTheorem1(deep_basis::DbkTheorem1Options),
    /// Cox processes with a deep basis and a stationary kernel (arXiv:2505.18526, appendix A.5)
    ///
    /// Intensities of events with known intensities in one and two dimensions, or of the events of
    /// a file, with the integral of the bound by quadrature and by draws: error, coverage, expected
    /// log-likelihood of held-out events, and plots. For example, coal-mining disasters: --events
    /// disasters.csv --domain 1851.2..1962.2.
    DbkCox(deep_basis::DbkCoxOptions),
    /// Mobile internet quality with SVGP, SVDKL and SVDBK, from a file (arXiv:2505.18526, Figure 4)
    ///
    /// Scores beside the published values, maps of the predictions, and the kernels around two
    /// places. The data are not part of the program: --data FILE has the columns latitude,
    /// longitude and the quality score, whose logarithm is predicted. Other settings are as in
    /// dbk-uci.
    DbkMobile(deep_basis::DbkMobileOptions),
}

/// Runs `burn-gp experiment`.
///
/// # Errors
///
/// [`Failure`] with advice for the user.
pub fn run(command: ExperimentCommand) -> Result<(), Failure> {
    execute(command).map_err(|failure| {
        failure.or_go_on(|| {
            Some("finished runs are kept; run the same command again to continue".into())
        })
    })
}

fn execute(command: ExperimentCommand) -> Result<(), Failure> {
    let other = match command {
        ExperimentCommand::Study(study, request) => return study::execute(study, &request),
        ExperimentCommand::Other(other) => *other,
    };
    match other {
        OtherExperiment::List => print(&list()),
        OtherExperiment::Snelson(options) => solve_gp::snelson(&options),
        OtherExperiment::SolveCost(options) => solve_gp::cost(&options),
        OtherExperiment::InverseFreeToy(options) => inverse_free::toy(&options),
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

/// The studies that are commands of their own. Other studies belong to the experiment of the same name, or
/// are protocols of another study.
fn commands() -> impl Iterator<Item = &'static Study> {
    let others = OtherExperiment::augment_subcommands(Command::new("experiment"));
    let is_other = move |study: &&Study| others.find_subcommand(study.name).is_some();
    let is_protocol = |study: &&Study| {
        let protocol = study.protocol.as_ref();
        protocol.is_some_and(|protocol| protocol.of.is_some())
    };
    let own = study::all().iter().filter(move |study| !is_other(study));
    own.filter(move |study| !is_protocol(study))
}

impl Subcommand for ExperimentCommand {
    fn augment_subcommands(command: Command) -> Command {
        let studies = commands().map(|study| study.command());
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
            Some((study.chosen(matches), matches))
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

/// The name and the first help line of every experiment, sorted by name.
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
