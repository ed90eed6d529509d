//! `burn-gp experiment`: experiments of papers, with the papers' numbers beside ours.

mod computation_aware;
mod course;
mod csv_line;
mod data_at_hand;
mod deep;
mod deep_basis;
mod departures;
mod folder;
mod inverse_free;
mod options;
mod reported;
mod scaling;
mod solve_gp;
mod watch;

use clap::Subcommand;

use crate::failure::Failure;
use crate::standard_output::print;

use csv_line::CsvLine;
use folder::ExperimentFolder;
use options::CommonOptions;
use reported::Reported;

/// The experiments.
#[derive(Debug, Subcommand)]
pub enum ExperimentCommand {
    /// The experiments, a line each
    List,
    /// Snelson's data with SVGP, ODVGP and SOLVE-GP (arXiv:1910.10596, Figure 2)
    ///
    /// SVGP with 5 and with 10 inducing points, ODVGP with 5 and 100 more for the mean, SOLVE-GP with 5
    /// and 5 orthogonal ones, on 100 rows of Snelson's data; the other 100 rows are held out.
    Snelson(solve_gp::SnelsonOptions),
    /// Regression with SVGP, ODVGP and SOLVE-GP (arXiv:1910.10596, Tables 2, 6 and 7)
    ///
    /// The protocol is the paper's: Matérn-3/2 kernel with one lengthscale, unwhitened posteriors, 64 %
    /// of the rows to train on and 20 % to test on, batches of 1024, Adam with learning rate 0.01.
    /// At quick scale all numbers of inducing points are divided by 8.
    ///
    /// The tables have every run that is finished in the folder, whichever the last command asked for,
    /// so that the cells can be made one by one.
    SolveRegression(solve_gp::RegressionOptions),
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
    /// CIFAR-10 with a convolutional kernel, SVGP and SOLVE-GP (arXiv:1910.10596, Tables 1, 3 and 8)
    ///
    /// Accuracy and log density of the test images with SVGP(M), SVGP(1.6 M), SOLVE-GP(M+M) and
    /// SVGP(2M) inducing patches, whitened, in single precision, and the time of a step. The kernel is
    /// insensitive to translation: a Matérn-3/2 kernel of the places of patches of 5 by 5 pixels
    /// beside a squared-exponential one of their colors. Runs on as many images as are in the
    /// folder. The paper's: `experiment conv-cifar10 --scale paper`; one row of it: --models solve-m-m.
    ConvCifar10(solve_gp::ConvCifarOptions),
    /// CIFAR-10 with two and three layers, SVGP and SOLVE-GP (arXiv:1910.10596, Tables 9 and 10)
    ///
    /// As conv-cifar10, unwhitened, with feature maps of 10 channels before the last layer: patches of
    /// 5 by 5 pixels, then 4 by 4 every 2, then 5 by 5 (Table 5). The paper's:
    /// `experiment deep-conv-cifar10 --scale paper`; one row of it: --layers 2 --models solve-m-m.
    DeepConvCifar10(solve_gp::DeepConvCifarOptions),
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
    /// MNIST with W-, L- and R-SVGP (arXiv:2604.00697, Table 2)
    ///
    /// The error of the test rows with the kernel rbf and the likelihood robust-max.
    InverseFreeMnist(inverse_free::MnistOptions),
    /// Deep Gaussian processes with W-, L- and R-SVGP on kin40k (arXiv:2604.00697, Table 1)
    ///
    /// One to three layers, each with the posteriors whitened, l-svgp and inverse-free. The protocol is
    /// the paper's: 500 inducing points a layer, batches of 1000, 200 000 steps, five seeds. At quick
    /// scale 100 inducing points, batches of 250, 1000 steps, one seed.
    ///
    /// The table has every run that is finished in the folder, whichever the last command asked for,
    /// so that the cells can be made one by one. The folder of a run is DIR/depth-L/POSTERIOR/seed-K.
    DeepKin40k(deep::Kin40kOptions),
    /// Deep Gaussian processes on small data sets and elevators (in the manner of arXiv:1705.08933)
    ///
    /// One to three whitened layers, or layers with any other posterior, on concrete, energy, yacht and
    /// elevators: 100 inducing points a layer, batches of 1000, 20 000 steps, five seeds. At
    /// quick scale 50 inducing points, batches of 250, 1000 steps, one seed.
    DeepUci(deep::DeepUciOptions),
    /// MNIST with W-, L- and R-SVGP and a convolutional kernel (arXiv:2604.00697, Table 2)
    ///
    /// The error of the test rows with the weighted convolutional kernel over inducing patches, and
    /// with the kernel rbf under the same budget. The whole of the table is
    /// `experiment conv-mnist --scale paper --dtype f32`; --kernels conv --models w --seeds 1 is one
    /// run of it. The table has every run that is finished in the folder.
    ConvMnist(inverse_free::ConvMnistOptions),
    /// Exact, sparse and computation-aware regression on UCI data (arXiv:2411.01036, Table 1)
    ///
    /// NLPD, RMSE and seconds of CholeskyGP, SGPR with trained and fixed inducing points, SVGP, CGGP,
    /// CaGP-CG and CaGP-Opt, with Adam in single and L-BFGS in double precision, in one table beside the
    /// paper's. One cell of it: --scale paper --data-sets bike --methods cagp-opt-adam --seeds 1.
    ///
    /// The table has every run that is finished in the folder, whichever the last command asked for,
    /// so that the cells can be made one by one, each in a process of its own.
    CagpUci(computation_aware::UciOptions),
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
    /// Deep basis kernels, deep kernel learning and GPs on pol, protein, song (arXiv:2505.18526, Table 1)
    ///
    /// GP, sGP, SVGP, DKL, sDKL, SVDKL, a network with a Bayesian last layer, DBK and SVDBK, these
    /// without correction of the variance (-c), of rank 1 (-r), and both (-cr). The protocol is the
    /// paper's: 70 % of the rows to train on, 10 % for validation, 20 % to test on.
    ///
    /// The table has every run that is finished in the folder, whichever the last command asked for,
    /// so that the cells can be made one by one: --data-sets pol --methods dbk --seed 0 --seeds 1. The
    /// folder of a run is DIR/runs/DATA/METHOD/seed-K.
    DbkUci(deep_basis::DbkUciOptions),
    /// Deep basis kernels, GP and DKL on 100 to 100000 rows in one dimension (arXiv:2505.18526, Figures 1, 3)
    ///
    /// Errors, densities and the time of a step against the number of rows, with the exponent of the
    /// time, and plots of the posteriors with and without correction of the variance.
    DbkSynthetic(deep_basis::DbkSyntheticOptions),
    /// Deep basis kernels of rank 1 to 256 (in the manner of arXiv:2505.18526, Table 1)
    ///
    /// Scores of the test rows against the number of basis functions, with and without correction of
    /// the variance; in all else as dbk-uci.
    DbkRank(deep_basis::DbkRankOptions),
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
    match command {
        ExperimentCommand::List => print(&list()),
        ExperimentCommand::Snelson(options) => solve_gp::snelson(&options),
        ExperimentCommand::SolveRegression(options) => solve_gp::regression(&options),
        ExperimentCommand::SolveAblation(options) => solve_gp::ablation(&options),
        ExperimentCommand::SolveCost(options) => solve_gp::cost(&options),
        ExperimentCommand::ConvCifar10(options) => solve_gp::conv_cifar(&options),
        ExperimentCommand::DeepConvCifar10(options) => solve_gp::deep_conv_cifar(&options),
        ExperimentCommand::InverseFreeToy(options) => inverse_free::toy(&options),
        ExperimentCommand::InverseFreeUci(options) => inverse_free::uci(&options),
        ExperimentCommand::InverseFreeHutchinson(options) => inverse_free::hutchinson(&options),
        ExperimentCommand::InverseFreeMnist(options) => inverse_free::mnist(&options),
        ExperimentCommand::DeepKin40k(options) => deep::kin40k(&options),
        ExperimentCommand::DeepUci(options) => deep::uci(&options),
        ExperimentCommand::ConvMnist(options) => inverse_free::conv_mnist(&options),
        ExperimentCommand::CagpUci(options) => computation_aware::uci(&options),
        ExperimentCommand::CagpToy(options) => computation_aware::toy(&options),
        ExperimentCommand::CagpScale(options) => computation_aware::scale(&options),
        ExperimentCommand::CagpActions(options) => computation_aware::actions(&options),
        ExperimentCommand::CagpLoss(options) => computation_aware::loss(&options),
        ExperimentCommand::CagpCoverage(options) => computation_aware::coverage(&options),
        ExperimentCommand::CagpCourse(options) => computation_aware::course(&options),
        ExperimentCommand::CagpInducing(options) => computation_aware::inducing(&options),
        ExperimentCommand::DbkUci(options) => deep_basis::uci(&options),
        ExperimentCommand::DbkSynthetic(options) => deep_basis::synthetic(&options),
        ExperimentCommand::DbkRank(options) => deep_basis::rank(&options),
        ExperimentCommand::DbkTheorem1(options) => deep_basis::theorem1(&options),
        ExperimentCommand::DbkCox(options) => deep_basis::cox(&options),
        ExperimentCommand::DbkMobile(options) => deep_basis::mobile(&options),
    }
}

/// Name and content of every experiment, as its help begins.
fn list() -> String {
    let commands = ExperimentCommand::augment_subcommands(clap::Command::new("experiment"));
    let about = |command: &clap::Command| command.get_about().map(ToString::to_string);
    let experiments = commands.get_subcommands().skip(1); // the first is this list
    let rows: Vec<Vec<String>> = experiments
        .map(|command| {
            vec![
                command.get_name().to_owned(),
                about(command).unwrap_or_default(),
            ]
        })
        .collect();
    let width = rows.iter().map(|row| row[0].len()).max().unwrap_or(0);
    let line = |row: &Vec<String>| format!("{:<width$}   {}\n", row[0], row[1]);
    rows.iter().map(line).collect()
}
