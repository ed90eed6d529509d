//! A race on held-out training rows between the model chosen by size and nearest-neighbor regression.
//!
//! Inducing points smooth out what varies over distances shorter than the distance between them. With few inputs and
//! many rows, such as measurements on a map, regression on nearest neighbors keeps it. Which of the two predicts
//! better depends on the data, so both are fitted to the same few thousand rows. With one input, exact regression over
//! time takes the place of neighbors: it needs no inducing points either, and no approximation.

use burn::tensor::{DType, Device};
use burn_gp_core::likelihoods::GaussianConfig;
use burn_gp_datasets::DataSource;
use burn_gp_models::{
    AnyModel, MarkovConfig, SgprConfig, VecchiaConfig,
    training::{AnyTrainer, Model},
};
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::index};

use super::{Choice, OBJECTIVE_TOLERANCE, Size, start::first_value};
use crate::arguments::{ModelChoice, RunOptions};
use crate::plan::{check, resolve};
use crate::preparation::{Part, PreparedData};

/// The most inputs with which nearest neighbors are tried. Neighbors of points with more inputs are far away.
const MOST_INPUTS: usize = 4;
/// The number of rows to which both models are fitted.
const ROWS: usize = 8192;
/// The number of held-out rows if there are enough.
const HELD_OUT: f64 = 2048.0;
/// The largest share of the training rows to hold out.
const MOST_HELD_OUT: f64 = 0.2;
/// The kernels to try, from rough to smooth. Their log densities on few neighbors differ by far more than the
/// approximation of each changes.
const KERNELS: [&str; 3] = ["matern12", "matern32", "matern52"];
/// The number of neighbors in these fits.
const NEIGHBORS: usize = 10;
/// The maximum number of L-BFGS iterations of these fits.
const ITERATIONS: usize = 50;
/// The number of L-BFGS iterations of the model with inducing points. It starts from hyperparameters that were
/// fitted to a few rows.
const SPARSE_ITERATIONS: usize = 10;
/// Nearest neighbors win if the mean log density is better by more than this many standard errors.
const STANDARD_ERRORS: f64 = 2.0;

/// The number of fits of a race.
pub const FITS: usize = KERNELS.len() + 1;

/// The model that the one chosen by size races with.
fn challenger(given: &RunOptions, data: &PreparedData) -> ModelChoice {
    match data.kernel_dimensions() == 1 && given.neighbors.is_none() {
        true => ModelChoice::of::<MarkovConfig>(),
        false => ModelChoice::of::<VecchiaConfig>(),
    }
}

/// The end of a race.
pub struct Race {
    /// The options of the challenger, with the best kernel and its hyperparameters.
    pub options: RunOptions,
    /// The challenger.
    model: ModelChoice,
    /// The number of held-out rows.
    rows: usize,
    /// The mean log densities of the held-out rows with the challenger and with the model chosen by size.
    means: [f64; 2],
    /// Whether the challenger predicts better.
    pub is_won: bool,
}

/// Whether the challenger may predict better than the model chosen by size, and the user's options leave it open.
pub fn is_open(given: &RunOptions, data: &PreparedData, size: &Size, choice: &Choice) -> bool {
    let covers_all = choice.inducing.is_none_or(|count| count >= size.distinct);
    let has_parameters = given.set.is_some()
        || given.bound.is_some()
        || given.prior.is_some()
        || given.fix.is_some();
    data.likelihood.is::<GaussianConfig>()
        && data.kernel_dimensions() <= MOST_INPUTS
        && !covers_all
        && !size.is_streamed
        && !size.is_weighted
        && !size.has_row_noise
        && !size.has_copies()
        && !has_parameters
        && given.require_use(challenger(given, data)).is_ok()
}

/// Fits the challenger and the model with inducing points to the same rows, and compares their
/// predictions of others. `present` has the kernel and the first hyperparameters of the latter. `None` if a fit
/// fails.
pub fn race(
    given: &RunOptions,
    present: &RunOptions,
    source: &DataSource,
    data: &PreparedData,
    place: (&Device, DType),
    mut watch: impl FnMut(),
) -> Option<Race> {
    let model = challenger(given, data);
    let has_neighbors = model == ModelChoice::of::<VecchiaConfig>();
    let track = Track::new(given, source, data, place)?;
    let kernels = match &given.kernel {
        Some(kernel) => vec![kernel.clone()],
        None => (KERNELS.iter())
            .filter_map(|text| text.parse().ok())
            .collect(),
    };
    let fits = kernels.into_iter().filter_map(|kernel| {
        watch();
        let options = RunOptions {
            model: Some(model),
            kernel: Some(kernel),
            neighbors: given.neighbors.or(has_neighbors.then_some(NEIGHBORS)),
            ..track.given.clone()
        };
        let trainer = track.fit(&options, ITERATIONS)?;
        Some((trainer.loss(None, |_| ()).ok()?, options, trainer))
    });
    let (_, options, trainer) = fits.min_by(|(a, ..), (b, ..)| a.total_cmp(b))?;
    let ours = track.log_densities(&trainer)?;
    watch();
    let sparse = RunOptions {
        model: Some(ModelChoice::of::<SgprConfig>()),
        kernel: present.kernel.clone(),
        isotropic: present.isotropic,
        set: present.set.clone(),
        inducing: present.inducing,
        objective_tolerance: given.objective_tolerance.or(Some(OBJECTIVE_TOLERANCE)),
        ..track.given.clone()
    };
    let theirs = track.log_densities(&track.fit(&sparse, SPARSE_ITERATIONS)?)?;
    let hyperparameters = trainer.model().hyperparameters();
    Some(Race {
        options: RunOptions {
            neighbors: given.neighbors,
            set: Some(hyperparameters.iter().map(first_value).collect()),
            ..options
        },
        model,
        rows: ours.len(),
        means: [&ours, &theirs].map(|densities| mean(densities)),
        is_won: is_better(&ours, &theirs),
    })
}

impl Race {
    /// The choice after the race.
    pub fn choice(&self, before: &Choice) -> Choice {
        let (rows, [ours, theirs]) = (self.rows, self.means);
        let other = before.model.name();
        let densities = |first, second| format!("mean log density {first:.3} versus {second:.3}");
        match self.is_won {
            true => Choice {
                model: self.model,
                inducing: None,
                reason: format!(
                    "it is better than {other} on {rows} held-out training rows ({})",
                    densities(ours, theirs)
                ),
            },
            false => Choice {
                reason: format!(
                    "{}, and {} is not clearly better on {rows} held-out training rows ({})",
                    before.reason,
                    self.model.name(),
                    densities(ours, theirs)
                ),
                ..before.clone()
            },
        }
    }
}

/// The rows of a race.
struct Track<'a> {
    given: RunOptions,
    source: &'a DataSource,
    /// The rows of the fits, and the held-out rows as validation rows.
    data: PreparedData,
    place: (&'a Device, DType),
}

impl<'a> Track<'a> {
    fn new(
        given: &RunOptions,
        source: &'a DataSource,
        data: &PreparedData,
        place: (&'a Device, DType),
    ) -> Option<Self> {
        let share = (HELD_OUT / data.train.len() as f64).min(MOST_HELD_OUT);
        let mut data = data.holding_out(share, given.seed()).ok()?;
        data.train = sample(&data.train, given.seed());
        Some(Self {
            given: RunOptions {
                minutes: None,
                ..given.clone()
            },
            source,
            data,
            place,
        })
    }

    /// Full-batch training on the rows of the fits.
    fn fit(&self, options: &RunOptions, iterations: usize) -> Option<AnyTrainer<AnyModel>> {
        let options = check(options, self.source).ok()?;
        let (_, plan) = resolve(&options, &self.data).ok()?;
        let mut trainer = plan.trainer(&self.data, self.place).ok()?;
        while trainer.steps_made() < iterations && !trainer.is_finished() {
            trainer.step().ok()?;
        }
        Some(trainer)
    }

    /// The log densities of the held-out targets, in standardized units. `None` if one is not finite.
    fn log_densities(&self, trainer: &AnyTrainer<AnyModel>) -> Option<Vec<f64>> {
        let part = &self.data.validation;
        let (inputs, (targets, _)) = (&part.inputs, part.likelihood_targets());
        let predictor = trainer.model().trained(trainer.data()).ok()?;
        let predictor = predictor.predictor().ok()?;
        let densities = predictor.log_density(inputs.values(), inputs.columns(), &targets);
        (densities.ok()).filter(|all| all.iter().all(|density| density.is_finite()))
    }
}

/// A random sample of the rows; all rows if there are few.
fn sample(all: &Part, seed: u64) -> Part {
    if all.len() <= ROWS {
        return all.clone();
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut rows = index::sample(&mut random, all.len(), ROWS).into_vec();
    rows.sort_unstable();
    all.select(&rows)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Whether log densities are larger than others of the same rows, by more than chance.
fn is_better(ours: &[f64], theirs: &[f64]) -> bool {
    let gains: Vec<f64> = (ours.iter().zip(theirs))
        .map(|(ours, theirs)| ours - theirs)
        .collect();
    let gain = mean(&gains);
    let squares: f64 = gains.iter().map(|each| (each - gain).powi(2)).sum();
    gain > STANDARD_ERRORS * squares.sqrt() / gains.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_is_not_better() {
        let theirs: Vec<f64> = (0..60).map(|row| f64::from(row % 7)).collect();
        let better: Vec<f64> = theirs.iter().map(|density| density + 0.01).collect();
        assert!(is_better(&better, &theirs));
        assert!(!is_better(&theirs, &better));
        assert!(!is_better(&theirs, &theirs));
        // One row of 60 decides: the gain is one standard error.
        let mut lucky = theirs.clone();
        lucky[3] += 100.0;
        assert!(!is_better(&lucky, &theirs));
    }
}
