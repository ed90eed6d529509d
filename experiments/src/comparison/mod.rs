//! `burn-gp compare`: several models on the same data.

mod folder;
mod outcome;
mod table;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::arguments::{CompareArguments, ModelName, RunOptions, name_of};
use crate::failure::Failure;
use crate::fitting::Interrupt;
use crate::output;
use crate::plan::Plan;
use crate::plots;
use crate::preparation::PreparedData;
use crate::settings::{self, SettingError, Settings};
use crate::standard_output::print;
use crate::train::{default_folder_name, from_the_root};
use crate::training_run::{RunEnd, TrainingRun};

use folder::ComparisonFolder;
use outcome::{Outcomes, RunOutcome};

/// The runs of a comparison, as kept for `--resume`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ComparisonPlan {
    /// The models, in the order of the table.
    models: Vec<ModelName>,
    /// The seeds.
    seeds: Vec<u64>,
    /// What the runs have in common.
    options: RunOptions,
}

impl ComparisonPlan {
    /// The folders of the runs in the comparison's `folder`.
    fn runs(&self, folder: &Path) -> impl Iterator<Item = PathBuf> {
        let seeds = self.seeds.iter();
        seeds.flat_map(move |&seed| {
            let models = self.models.iter();
            models.map(move |&model| run_folder(folder, model, seed))
        })
    }
}

/// The folder of a run in the comparison's `folder`.
fn run_folder(folder: &Path, model: ModelName, seed: u64) -> PathBuf {
    folder.join(name_of(model)).join(format!("seed-{seed}"))
}

/// Runs `burn-gp compare`.
///
/// # Errors
///
/// [`Failure`], which says what to do. A run that breaks off is left out of the scores, and named in
/// the error at the end.
pub fn compare(arguments: CompareArguments) -> Result<(), Failure> {
    let quiet = arguments.quiet;
    let (plan, folder) = match &arguments.resume {
        Some(path) => {
            require_nothing_else(&arguments.options)?;
            ComparisonFolder::resume(path)?
        }
        None => begin(arguments)?,
    };
    let interrupt = Interrupt::install()?;
    let mut outcomes = Outcomes::default();
    for &seed in &plan.seeds {
        for &model in &plan.models {
            let outcome = execute(&plan.options, model, seed, &folder, quiet, &interrupt)?;
            if !quiet {
                eprintln!("{}", table::progress(&outcome));
            }
            outcomes.push(outcome);
        }
    }
    finish(&plan, &outcomes, folder.path()).map_err(|failure| {
        let place = folder.path().display();
        failure.or_go_on(|| {
            Some(format!(
                "the runs are kept, so continue with: burn-gp compare --resume {place}"
            ))
        })
    })
}

/// A run of a model with a seed: read, if it was made before; else made or continued.
fn execute(
    options: &RunOptions,
    model: ModelName,
    seed: u64,
    folder: &ComparisonFolder,
    quiet: bool,
    interrupt: &Interrupt,
) -> Result<RunOutcome, Failure> {
    let run = TrainingRun {
        folder: run_folder(folder.path(), model, seed),
        options: RunOptions {
            model: Some(model),
            seed: Some(seed),
            ..options.clone()
        },
    };
    let outcome = |metrics| RunOutcome {
        model,
        seed,
        metrics,
    };
    match run.execute(quiet, interrupt)? {
        RunEnd::Finished(metrics) => Ok(outcome(Some(*metrics))),
        RunEnd::Broken => Ok(outcome(None)),
        RunEnd::Refused => Err(Failure::RefusedRun {
            run: outcome(None).name(),
        }),
        RunEnd::Interrupted => Err(Failure::InterruptedComparison {
            folder: folder.path().to_owned(),
        }),
    }
}

/// Checks everything that can be checked before the first run, and claims the folder.
fn begin(arguments: CompareArguments) -> Result<(ComparisonPlan, ComparisonFolder), Failure> {
    let mut options = from_the_root(arguments.options);
    if options.model.take().is_some() {
        return Err(SettingError::Plural { option: "model" }.into());
    }
    if options.seed.take().is_some() {
        return Err(SettingError::Plural { option: "seed" }.into());
    }
    let plan = ComparisonPlan {
        models: distinct(arguments.models),
        seeds: match distinct(arguments.seeds) {
            seeds if seeds.is_empty() => vec![0],
            seeds => seeds,
        },
        options,
    };
    let source = settings::source(&plan.options.clone().over(settings::environment()))?;
    for &model in &plan.models {
        let options = RunOptions {
            model: Some(model),
            seed: plan.seeds.first().copied(),
            ..plan.options.clone()
        };
        let mut settings = Settings::new(options, &source)?;
        let data = PreparedData::load(&source, &settings)?;
        Plan::new(&mut settings, &data)?;
    }
    require_use(&plan)?;
    let path = arguments.out.unwrap_or_else(|| {
        PathBuf::from("out").join(default_folder_name(source.name(), "comparison"))
    });
    let folder = ComparisonFolder::claim(&path, arguments.overwrite, &plan)?;
    Ok((plan, folder))
}

/// The first option that none of the models has a use for is an error.
fn require_use(plan: &ComparisonPlan) -> Result<(), SettingError> {
    let without_use: Vec<_> = (plan.models.iter())
        .map(|&model| settings::without_use(&plan.options, model))
        .collect();
    let Some((first, others)) = without_use.split_first() else {
        return Ok(());
    };
    match (first.iter()).find(|option| others.iter().all(|other| other.contains(option))) {
        Some(option) => Err(SettingError::NotApplicable {
            option,
            model: name_of(plan.models[0]),
        }),
        None => Ok(()),
    }
}

/// A resumed comparison keeps its options.
fn require_nothing_else(options: &RunOptions) -> Result<(), SettingError> {
    if *options == RunOptions::default() {
        return Ok(());
    }
    Err(SettingError::FixedOnResume {
        option: "the options of the runs".into(),
    })
}

/// The values without repetitions, in their order.
fn distinct<T: PartialEq>(values: Vec<T>) -> Vec<T> {
    let mut kept = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept
}

/// Writes and prints what the runs found.
fn finish(plan: &ComparisonPlan, outcomes: &Outcomes, folder: &Path) -> Result<(), Failure> {
    let write = |name: &str, text: String| output::replace_file(&folder.join(name), &text);
    write(output::COMPARISON_CSV, table::csv(outcomes))?;
    write(
        output::COMPARISON_JSON,
        table::json(plan, outcomes, folder)?,
    )?;
    let panels = table::panels(plan, outcomes);
    if !panels.is_empty() {
        let names: Vec<String> = plan.models.iter().map(|&model| name_of(model)).collect();
        let data = outcomes.data().unwrap_or_default();
        let plot = folder.join(output::COMPARISON_PICTURE);
        plots::warn_undrawn(plots::comparison(&plot, data, &names, &panels));
        print(&(table::text(plan, outcomes, folder) + "\n"))?;
    }
    match outcomes.broken() {
        broken if broken.is_empty() => Ok(()),
        broken => Err(Failure::BrokenRuns {
            runs: broken.iter().map(RunOutcome::name).collect(),
        }),
    }
}
