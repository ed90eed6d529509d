//! Processes at inputs that are not known exactly.

use std::sync::Arc;

use burn::tensor::{Int, Tensor, TensorData};
use rand::{SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};

use super::{AnyProcess, Marginals, equal_inputs::indices};
use crate::{
    ops::{NotPositiveDefinite, special::functions::normal_quantile},
    parameter::numbers,
};

/// A process at inputs `x + ε`, `ε ~ N(0, diag s²)`: values that were measured with an error, or that are missing and
/// known by their distribution only.
///
/// The points have 2D coordinates, the values x followed by their standard deviations s. Where all of these are zero,
/// predictions are those of the process. Elsewhere they are mixtures of the predictions at S points of a Latin
/// hypercube, so that the mean is `E[μ(x + ε)]` and the variance `E[σ²(x + ε)] + Var[μ(x + ε)]` (A. Girard et al.,
/// *Gaussian process priors with uncertain inputs*, 2003, equations 6 and 7), for any kernel and likelihood.
///
/// ```
/// use std::sync::Arc;
///
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::{
///     inference::Exact,
///     kernels::StationaryConfig,
///     likelihoods::Gaussian,
///     means::ZeroMean,
///     process::{AnyProcess, Marginals, UncertainInputs},
/// };
///
/// # fn main() -> Result<(), burn_gp_core::inference::ConditionError> {
/// let device = Device::default();
/// let kernel = StationaryConfig::rbf().init(1, &device);
/// let x = Tensor::<2>::from_data([[-1.0], [0.0], [1.0]], &device);
/// let process = Exact::new(kernel, ZeroMean::new(1), Gaussian::new(0.01, &device))
///     .condition(x.clone(), x)?;
/// let process = UncertainInputs::new(Arc::new(process), 32);
/// // The input 0.5, known exactly, and with a standard deviation of 0.4.
/// let x = Tensor::<2>::from_data([[0.5, 0.0], [0.5, 0.4]], &device);
/// let components = process.components(x);
/// assert_eq!(components.len(), 32);
/// if let Some(Marginals { variance, .. }) = Marginals::of_mixture(components) {
///     let variances: Vec<f64> = variance.into_data().iter().collect();
///     assert!(variances[1] > variances[0] + 0.05);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct UncertainInputs {
    process: Arc<dyn AnyProcess + Send + Sync>,
    samples: usize,
}

/// The seed of the points, which are the same in every prediction.
const SEED: u64 = 0;

impl UncertainInputs {
    /// The process at uncertain inputs, of which `samples` stand for each.
    ///
    /// # Panics
    ///
    /// If there are no samples.
    #[track_caller]
    pub fn new(process: Arc<dyn AnyProcess + Send + Sync>, samples: usize) -> Self {
        assert!(samples > 0, "UncertainInputs: no samples");
        Self { process, samples }
    }

    /// The values and their standard deviations, `[N, D]` each.
    #[track_caller]
    fn parts(x: Tensor<2>) -> (Tensor<2>, Tensor<2>) {
        let [_, columns] = x.dims();
        assert!(
            columns.is_multiple_of(2),
            "UncertainInputs: points {:?}; expected the values and as many standard deviations",
            x.dims()
        );
        let dimensions = columns / 2;
        (
            x.clone().narrow(1, 0, dimensions),
            x.narrow(1, dimensions, dimensions),
        )
    }

    /// The inputs of sample `s`, `x + s∘z_s`, `[N, D]`.
    fn shifted(values: Tensor<2>, deviations: Tensor<2>, normals: &[f64]) -> Tensor<2> {
        let data = TensorData::new(normals.to_vec(), [1, normals.len()]);
        let normals = Tensor::<2>::from_data(data, (&values.device(), values.dtype()));
        values + deviations * normals
    }
}

/// S points of a Latin hypercube of D standard normal coordinates, `[S, D]`: each coordinate takes the same S quantiles,
/// in an order of its own. Their mean is zero and their variance one.
fn latin_hypercube(samples: usize, dimensions: usize) -> Vec<Vec<f64>> {
    let middle = |sample: usize| (sample as f64 + 0.5) / samples as f64;
    let quantiles: Vec<f64> = (0..samples)
        .map(|sample| normal_quantile(middle(sample)))
        .collect();
    let variance = quantiles.iter().map(|z| z * z).sum::<f64>() / samples as f64;
    let scale = if variance > 0.0 {
        variance.sqrt().recip()
    } else {
        0.0
    };
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    let mut points = vec![Vec::with_capacity(dimensions); samples];
    for _ in 0..dimensions {
        let mut order: Vec<f64> = quantiles.iter().map(|z| z * scale).collect();
        order.shuffle(&mut random);
        points
            .iter_mut()
            .zip(order)
            .for_each(|(point, z)| point.push(z));
    }
    points
}

/// The rows of two sets of marginals in the order `places`.
fn arranged(known: &Marginals, others: &Marginals, places: &Tensor<1, Int>) -> Marginals {
    let join = |known: &Tensor<2>, others: &Tensor<2>| {
        Tensor::cat(vec![known.clone(), others.clone()], 0).select(0, places.clone())
    };
    Marginals {
        mean: join(&known.mean, &others.mean),
        variance: join(&known.variance, &others.variance),
    }
}

/// The rows of `points`, `[N, D]`, that are known, and the uncertain ones.
struct Divided {
    known: Vec<usize>,
    uncertain: Vec<usize>,
    /// Where each row is among the known rows followed by the others.
    places: Vec<usize>,
}

impl Divided {
    fn of(deviations: &Tensor<2>) -> Self {
        let [rows, dimensions] = deviations.dims();
        let host = numbers(deviations.clone());
        let is_uncertain = |row: &usize| {
            let own = &host[row * dimensions..][..dimensions];
            own.iter().any(|deviation| *deviation > 0.0)
        };
        let (uncertain, known): (Vec<usize>, Vec<usize>) = (0..rows).partition(is_uncertain);
        let mut places = vec![0; rows];
        let order = known.iter().chain(&uncertain).enumerate();
        order.for_each(|(place, &row)| places[row] = place);
        Self {
            known,
            uncertain,
            places,
        }
    }
}

impl AnyProcess for UncertainInputs {
    /// At each of the S points, the components of the process. Of a process that is a mixture itself, each point has a
    /// share of the components, so that there are as many as the larger of the two numbers.
    fn components(&self, x: Tensor<2>) -> Vec<Marginals> {
        let (values, deviations) = Self::parts(x);
        let [_, dimensions] = values.dims();
        let rows = Divided::of(&deviations);
        let select =
            |tensor: &Tensor<2>, rows: &[usize]| tensor.clone().select(0, indices(rows, tensor));
        let has_known = !rows.known.is_empty() || rows.uncertain.is_empty();
        let at_known = has_known.then(|| self.process.components(select(&values, &rows.known)));
        let places = indices(&rows.places, &values);
        let (values, deviations) = (
            select(&values, &rows.uncertain),
            select(&deviations, &rows.uncertain),
        );
        let mut all = Vec::new();
        for (sample, normals) in latin_hypercube(self.samples, dimensions).iter().enumerate() {
            let at_others = (!rows.uncertain.is_empty()).then(|| {
                self.process
                    .components(Self::shifted(values.clone(), deviations.clone(), normals))
            });
            let count = (at_others.as_ref().or(at_known.as_ref())).map_or(0, Vec::len);
            let own = (0..count).filter(|component| component % self.samples == sample % count);
            all.extend(own.filter_map(|component| match (&at_known, &at_others) {
                (Some(known), Some(others)) => {
                    Some(arranged(&known[component], &others[component], &places))
                }
                (Some(only), None) | (None, Some(only)) => Some(only[component].clone()),
                (None, None) => None,
            }));
        }
        all
    }

    fn rows_per_input(&self) -> usize {
        self.process.rows_per_input()
    }

    fn joint_inputs(&self) -> usize {
        self.process.joint_inputs()
    }

    /// At the values.
    fn layer_means(&self, x: Tensor<2>) -> Vec<Tensor<2>> {
        self.process.layer_means(Self::parts(x).0)
    }

    fn has_hidden_layers(&self) -> bool {
        self.process.has_hidden_layers()
    }

    /// Each draw is one of the functions, at one of the S points.
    fn draws(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let (values, deviations) = Self::parts(x);
        let [_, dimensions] = values.dims();
        let points = latin_hypercube(self.samples, dimensions);
        let draws = points.iter().enumerate().filter_map(|(place, normals)| {
            // Draw k is at point k mod S.
            let count = (samples + self.samples - 1 - place) / self.samples;
            let x = Self::shifted(values.clone(), deviations.clone(), normals);
            (count > 0).then(|| {
                self.process
                    .draws(x, count, seed.wrapping_add(place as u64))
            })
        });
        Ok(Tensor::cat(draws.collect::<Result<Vec<_>, _>>()?, 0))
    }
}
