//! What the experiments of regression have in common (Sections 4.2 and S6).
//!
//! Squared-exponential kernel with a lengthscale for each input, zero mean, 10 % of the rows at
//! random for testing, everything standardized by the training rows; variance, lengthscales and noise
//! variance start at 1, inducing points at the centers of clusters. Splits, batches and probes follow
//! the seed; the authors' program keeps the split.

use burn_gp::ops::Stationary;
use burn_gp_datasets::DataSource;

use super::cells::Run;
use super::method::{Damping, Relaxed};
use crate::arguments::{
    InitializerName, InversionName, LikelihoodName, MeanName, RunOptions, ScheduleName,
};
use crate::experiment::course::course;
use crate::failure::Failure;
use crate::kernel_expression::KernelExpression;
use crate::study::{CommonOptions, ExperimentFolder, Place, Watch};

/// The data sets of both experiments.
pub(super) const DATA_SETS: [&str; 2] = ["elevators", "kin40k"];

/// Adam's learning rate.
pub(super) const LEARNING_RATE: f64 = 5e-3;

/// Random vectors for the traces of R-SVGP.
pub(super) const PROBES: usize = 256;

/// Looks at the test rows of a run, about.
const LOOKS: usize = 25;

/// What all runs have in common, but for their length and their batches.
pub(super) fn shared(common: &CommonOptions, place: Place) -> RunOptions {
    RunOptions {
        kernel: Some(KernelExpression::of_unit_lengthscale(
            Stationary::SquaredExponential,
        )),
        isotropic: Some(false),
        mean: Some(MeanName::Zero),
        likelihood: Some(LikelihoodName::Gaussian),
        noise: Some(1.0),
        initializer: Some(InitializerName::KMeans),
        data_dir: common.data_dir(),
        test_fraction: Some(0.1),
        learning_rate: Some(LEARNING_RATE),
        schedule: Some(ScheduleName::Constant),
        dtype: Some(place.dtype),
        device: Some(place.device),
        ..RunOptions::default()
    }
}

/// R-SVGP in a run of `steps` steps with damped inducing points: 20 000 steps have 1000 in which
/// they stay where they are, and fewer have as large a share.
pub(super) fn damped(steps: usize) -> Relaxed {
    Relaxed {
        inversion: InversionName::Full,
        tolerance: 5e-3,
        probes: Some(PROBES),
        damping: Some(Damping {
            frozen: steps / 20,
            rate: 1e-3,
            momentum: 0.99,
            plateau: 100,
        }),
    }
}

/// What `run` is told beside what it has in common with others, R-SVGP as `relaxed` says but with
/// the run's probes.
pub(super) fn told(run: &Run, shared: RunOptions, relaxed: &Relaxed) -> RunOptions {
    let relaxed = Relaxed {
        probes: run.probes,
        ..*relaxed
    };
    RunOptions {
        data: Some(run.data.clone()),
        seed: Some(run.seed),
        inducing: Some(run.inducing),
        ..run.method.with_model(shared, &relaxed)
    }
}

/// Runs in a folder, each made once.
pub(super) struct Runs<'a> {
    /// What they have in common.
    pub shared: RunOptions,
    /// Where to compute.
    pub place: Place,
    /// Where they are kept.
    pub folder: &'a ExperimentFolder,
    /// Who watches.
    pub watch: Watch<'a>,
}

impl Runs<'_> {
    /// Makes all `runs`; the titles of those that broke off.
    ///
    /// # Errors
    ///
    /// When one cannot begin or cannot be written.
    pub fn make_all(&self, runs: Vec<Run>, relaxed: &Relaxed) -> Result<Vec<String>, Failure> {
        let mut broken = Vec::new();
        for run in runs {
            let title = run.title();
            if !self.make(run, relaxed)? {
                broken.push(title);
            }
        }
        Ok(broken)
    }

    /// Makes `run`, R-SVGP as `relaxed` says but with the run's probes, unless it was made before;
    /// whether it is there.
    ///
    /// # Errors
    ///
    /// When it cannot begin or cannot be written; one that breaks off says so.
    fn make(&self, run: Run, relaxed: &Relaxed) -> Result<bool, Failure> {
        let source = DataSource::resolve(&run.data, self.shared.data_dir.as_deref())?;
        let options = told(&run, self.shared.clone(), relaxed);
        let title = run.title();
        let made = self.folder.once(&run.name(), || {
            let course = course(&title, options, &source, self.place, LOOKS, &self.watch)?;
            Ok(Run {
                looks: course.looks,
                options: Some(course.options),
                ..run
            })
        });
        match made {
            Ok(_) => Ok(true),
            Err(error @ Failure::Training { .. }) => {
                eprintln!("warning: {title}: {error}");
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}
