//! Observed against nominal coverage of central intervals (Figure 4).
//!
//! The predictions are for the held-out rows, after the last step of the runs of
//! cagp-uci, which are in the same folder. The paper shows the error at 95 % on Power
//! during training, for SVGP and CaGP-Opt.

use std::path::{Path, PathBuf};

use burn_gp_runs::{
    arguments::name_of,
    checksums::{Links, read_text},
    coverage::{Coverage, nominal_coverages},
    failure::{Failure, FolderError},
    output::PREDICTIONS,
    plots::{self, Caption, CurveName, CurvePanel, Quantity, Span},
    standard_output::inform,
    study::{
        self, CommonOptions, ExperimentFolder, FinishedCell, Request, ResultRow, all_made, points,
        table,
    },
    summary::Summary,
};
use clap::Args;
use serde_json::json;

use super::{CellsOfTable1, TABLE_1};
use crate::figure::{Figure, Registration};

/// The name of the experiment.
const NAME: &str = "cagp-coverage";

/// The confidence level in Figure 4.
const NOMINAL: f64 = 0.95;

/// The default models; the first one only at paper scale.
const DEFAULT: [&str; 5] = ["exact", "sgpr-l-bfgs", "svgp", "cagp-cg", "cagp-opt-adam"];

/// Coverage of the intervals of exact, sparse and computation-aware models (arXiv:2411.01036,
/// Figure 4)
///
/// The share of held-out rows in their central intervals against the nominal coverage, from the
/// predictions of the runs of cagp-uci; missing runs are added. The default
/// of --methods is sgpr-l-bfgs, svgp, cagp-cg and cagp-opt-adam, and at paper scale also exact.
#[derive(Args, Clone, Debug)]
pub struct CoverageOptions {
    /// Folder with the runs of cagp-uci; missing runs are added to it
    #[arg(long, value_name = "DIR", default_value = "out/experiment-cagp-uci")]
    cells: PathBuf,
    /// The runs and their size. The default of --methods is sgpr-l-bfgs,svgp,cagp-cg,cagp-opt-adam,
    /// and at paper scale also exact.
    #[command(flatten)]
    runs: CellsOfTable1,
    /// The options of every experiment.
    #[command(flatten)]
    common: CommonOptions,
}

inventory::submit! { Registration::of::<CoverageOptions>(NAME) }

impl Figure for CoverageOptions {
    // Missing data sets and failed runs are reported and left out.
    fn run(&self) -> Result<(), Failure> {
        let common = &self.common;
        let (table, mut request) = (study::named(TABLE_1), self.runs.request(common));
        let default = if common.is_paper() {
            &DEFAULT[..]
        } else {
            &DEFAULT[1..]
        };
        request.choice.among = Some(default.iter().map(ToString::to_string).collect());
        request.choice.check(table)?;
        let place = common.place()?;
        place.open()?;
        let planned = study::planned(table, &request, &request.data_sets(table)?)?;
        let cells = cells_folder(self, &request)?;
        let settings = json!({ "device": place.device });
        let folder = ExperimentFolder::open(NAME, common, &settings)?;
        let broken = study::make(table, &request, &planned, &cells)?;
        report(&folder, &cells.runs(), &request)?;
        all_made(broken)
    }
}

/// Opens the folder of cagp-uci, which may be new.
fn cells_folder(options: &CoverageOptions, request: &Request) -> Result<ExperimentFolder, Failure> {
    let mut request = request.clone();
    request.common.out = Some(options.cells.clone());
    request.common.overwrite = false;
    let opened = study::open(study::named(TABLE_1), &request);
    opened.map_err(|failure| match failure {
        Failure::Folder(error) if !matches!(error, FolderError::InUse { .. }) => {
            Failure::Folder(FolderError::NoCells {
                path: options.cells.clone(),
                experiment: TABLE_1,
            })
        }
        failure => failure,
    })
}

/// The coverage of the predictions of a model, summarized over the seeds.
struct Covered {
    data: String,
    title: String,
    test_rows: usize,
    line: ResultRow,
    /// One line for each nominal coverage.
    levels: Vec<ResultRow>,
}

impl Covered {
    fn new(cell: &FinishedCell) -> Result<Self, Failure> {
        let seeds: Result<Vec<Coverage>, Failure> = (cell.folders.iter())
            .map(|folder| read(&folder.join(PREDICTIONS)))
            .collect();
        let seeds = seeds?;
        let summary = |number: &dyn Fn(&Coverage) -> f64| Summary::of(seeds.iter().map(number));
        let gap = |coverage: &Coverage| {
            let gaps =
                nominal_coverages().map(|nominal| (coverage.observed(nominal) - nominal).abs());
            gaps.sum::<f64>() / nominal_coverages().count() as f64
        };
        let mean = |nominal: f64| {
            let observed = summary(&|coverage| coverage.observed(nominal));
            (nominal, observed.map_or(f64::NAN, |observed| observed.mean))
        };
        let curve: Vec<(f64, f64)> = nominal_coverages().map(mean).collect();
        let error = |coverage: &Coverage| (coverage.observed(NOMINAL) - NOMINAL).abs();
        let (first, steps) = (&cell.runs[0], cell.steps());
        let title = cell.title();
        let place = ResultRow::default()
            .shown("model", &title)
            .with("data", &first.data)
            .with("method", &cell.cell.values[0])
            .with("action_rows", first.action_rows.map(name_of))
            .column("rank", "rank", first.actions.or(first.inducing), 0)
            .with("steps", steps)
            .with("seeds", seeds.len());
        let level = |&(nominal, observed): &(f64, f64)| {
            let line = place.clone().with("nominal", nominal);
            line.with("observed", observed)
        };
        let levels = curve.iter().map(level).collect();
        let line = (place.with("test_rows", first.n_test))
            .column(
                "in 50 %",
                "at_50",
                summary(&|coverage| coverage.observed(0.5)),
                3,
            )
            .column(
                "in 95 %",
                "at_95",
                summary(&|coverage| coverage.observed(NOMINAL)),
                3,
            )
            .column("error", "error_at_95", summary(&error), 3)
            .column("mean gap", "mean_gap", summary(&gap), 3)
            .with("curve", json!(curve))
            .shown("steps", steps)
            .shown("seeds", seeds.len());
        Ok(Self {
            data: first.data.clone(),
            title,
            test_rows: first.n_test,
            line,
            levels,
        })
    }
}

/// Reads the coverage of the predictions in a file.
fn read(path: &Path) -> Result<Coverage, Failure> {
    let damaged = |reason: String| FolderError::DamagedCheckpoint {
        path: path.to_owned(),
        reason,
    };
    let text = read_text(path, Links::Followed).map_err(FolderError::from)?;
    let levels: Option<Vec<f64>> = text.lines().skip(1).map(central_level).collect();
    let levels = levels.ok_or_else(|| damaged("these are not predictions".into()))?;
    Ok(Coverage::of_levels(levels))
}

/// The smallest confidence level whose central interval contains the observation in a line: the last column.
fn central_level(line: &str) -> Option<f64> {
    line.rsplit(',').next()?.parse().ok()
}

/// Writes the table and the plots of all finished runs.
fn report(folder: &ExperimentFolder, runs: &Path, request: &Request) -> Result<(), Failure> {
    let cells = study::named(TABLE_1).finished(runs, request)?;
    let covered = cells.iter().map(Covered::new);
    let covered = covered.collect::<Result<Vec<Covered>, Failure>>()?;
    let mut lines = Vec::new();
    for covered in covered.chunk_by(|a, b| a.data == b.data) {
        draw(folder, covered);
        lines.push(format!(
            "{}, {} held-out rows",
            covered[0].data, covered[0].test_rows
        ));
        lines.extend(table(covered.iter().map(|covered| &covered.line)));
        lines.push(String::new());
    }
    let record: Vec<&ResultRow> = covered.iter().map(|covered| &covered.line).collect();
    let levels: Vec<ResultRow> = (covered.iter())
        .flat_map(|covered| covered.levels.clone())
        .collect();
    folder.write_results(&record, &levels)?;
    lines.push(
        "mean (standard error) over the seeds; in 95 %: the share of held-out rows inside their central \
         95 % intervals,\nerror: its distance from 95 %, mean gap: the mean of these distances for 5 % \
         to 99 %; after the last step. The paper\n(arXiv:2411.01036, Figure 4) has no numbers: on Power \
         CaGP-Opt ends with a smaller error than SVGP"
            .into(),
    );
    lines.push(format!("runs in {}", runs.display()));
    lines.push(format!(
        "other results written to {}\n",
        folder.path().display()
    ));
    inform(&lines.join("\n"));
    Ok(())
}

/// Draws the coverage and its error. Of several runs with the same title on a data set, draws only the
/// largest.
fn draw(folder: &ExperimentFolder, covered: &[Covered]) {
    let largest = covered.chunk_by(|a, b| a.title == b.title);
    let drawn: Vec<&Covered> = largest.map(|own| &own[0]).collect();
    let mut names: Vec<CurveName> = (drawn.iter())
        .map(|covered| covered.title.clone().into())
        .collect();
    names.push(CurveName::dashed("perfect"));
    let observed = |covered: &&Covered| points(&covered.levels, "nominal", "observed");
    let perfect = nominal_coverages().map(|nominal| (nominal, nominal));
    let curves: Vec<Vec<(f64, f64)>> = (drawn.iter().map(observed))
        .chain([perfect.collect()])
        .collect();
    let gap = |&(nominal, observed): &(f64, f64)| (nominal, observed - nominal);
    let gaps = curves.iter().map(|curve| curve.iter().map(gap).collect());
    let gaps = CurvePanel::new("observed − nominal", Span::Values, gaps.collect());
    let window = Span::Window(0.0, 1.0);
    let panels = [CurvePanel::new("observed coverage", window, curves), gaps];
    let caption = Caption::new(
        &drawn[0].data,
        "central intervals of held-out rows, means over the seeds",
    );
    let along = Quantity::of("nominal coverage");
    folder.draw(&format!("{}.svg", drawn[0].data), |path| {
        plots::curves(path, "Coverage", caption, &names, along, &panels)
    });
}
