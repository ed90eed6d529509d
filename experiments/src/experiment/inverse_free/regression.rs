//! Common parts of the regression experiments (Sections 4.2 and S6).
//!
//! The kernel is squared exponential with one lengthscale for each input; the mean is zero. A
//! random 10 % of the rows are test rows, and everything is standardized by the training rows.
//! Variance, lengthscales and noise variance start at 1, inducing points at cluster centers.
//! Splits, batches and probes depend on the seed; the authors' program uses the same split for all
//! seeds.

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

/// The learning rate of Adam.
pub(super) const LEARNING_RATE: f64 = 5e-3;

/// The number of random probes for the traces of R-SVGP.
pub(super) const PROBES: usize = 256;

/// The approximate number of evaluations of the test rows in a run.
const LOOKS: usize = 25;

/// The options of all runs, without the length and the batch size.
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

/// R-SVGP in a run of `steps` steps with damped inducing points. They are frozen for 1000 of 20 000
/// steps, and for the same share of fewer steps.
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

/// The options of `run`: the shared ones, and for R-SVGP those in `relaxed` with the run's number
/// of probes.
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

/// The runs of a folder, each made once.
pub(super) struct Runs<'a> {
    /// The options of all runs.
    pub shared: RunOptions,
    /// The device and the floating-point type.
    pub place: Place,
    /// The folder of the runs.
    pub folder: &'a ExperimentFolder,
    /// Progress and interruption.
    pub watch: Watch<'a>,
}

impl Runs<'_> {
    /// Makes all `runs` and returns the titles of those that broke off.
    ///
    /// # Errors
    ///
    /// If a run cannot start or cannot be written.
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

    /// Makes `run` unless it is finished, with the settings in `relaxed` for R-SVGP and the run's
    /// number of probes. Returns whether the run exists.
    ///
    /// # Errors
    ///
    /// If the run cannot start or cannot be written. A run that breaks off reports the reason
    /// itself.
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
