//! The density of the targets given their latent values, with three derivatives.

use burn::{
    module::Module,
    tensor::{DType, Tensor, TensorData},
};

use crate::{likelihoods::AnyLikelihood, ops::numbers, parameter::tracked_like};

/// The places of a difference formula, in steps from the middle.
const PLACES: [f64; 5] = [-2.0, -1.0, 0.0, 1.0, 2.0];
/// `f′ ≈ Σ c·f/h`, with an error of `h⁴·f⁽⁵⁾/30`.
const FIRST: [f64; 5] = [1.0 / 12.0, -2.0 / 3.0, 0.0, 2.0 / 3.0, -1.0 / 12.0];
/// `f″ ≈ Σ c·f/h²`, with an error of `h⁴·f⁽⁶⁾/90`.
const SECOND: [f64; 5] = [-1.0 / 12.0, 4.0 / 3.0, -2.5, 4.0 / 3.0, -1.0 / 12.0];

/// The log density of all targets as a function of their latent values, with its derivatives.
pub struct Derivatives {
    /// `Σ log p(y_i | f_i)`
    pub value: f64,
    /// With respect to each latent value, `[N]`.
    pub first: Vec<f64>,
    pub second: Vec<f64>,
    pub third: Vec<f64>,
}

impl Derivatives {
    /// W, `[N]`: minus the second derivatives, and zero where the log density is not concave.
    pub fn curvature(&self) -> Vec<f64> {
        self.second
            .iter()
            .map(|second| (-second).max(0.0))
            .collect()
    }
}

/// How accurate the mode can be.
#[derive(Clone, Copy, Debug)]
pub struct Accuracy {
    /// The distance from the mode at which the search ends, in standard deviations of the posterior together.
    pub distance: f64,
    /// The rounding of log densities, relative to their sum.
    pub rounding: f64,
}

/// `log p(y_i | m_i + g_i)` of all rows as a function of g. Autodiff gives the first derivative, and differences of
/// first derivatives the second and third, so that any likelihood with one latent function serves.
pub struct TargetDensity {
    /// Without autodiff.
    likelihood: AnyLikelihood,
    /// [N, T]
    targets: Tensor<2>,
    /// m, `[N]`
    mean: Vec<f64>,
    /// h, the step of differences at each row, `[N]`.
    steps: Vec<f64>,
}

impl TargetDensity {
    /// The density with a likelihood and targets without autodiff, [N, T], and the means of the functions, `[N]`.
    pub fn new(likelihood: AnyLikelihood, targets: Tensor<2>, mean: Vec<f64>) -> Self {
        // Links are smooth on a scale of one; a likelihood may report a smaller one.
        let share = match targets.dtype() {
            DType::F64 => 5e-3,
            _ => 0.1,
        };
        let steps = match likelihood.peak(&targets) {
            Some(peak) => (numbers(peak.width).into_iter())
                .map(|width| share * width.min(1.0))
                .collect(),
            None => vec![share; mean.len()],
        };
        Self {
            likelihood,
            targets,
            mean,
            steps,
        }
    }

    /// `m + g + s·h` for each of S shifts s, [S, N, 1].
    fn points(&self, latent: &[f64], shifts: &[f64]) -> Tensor<3> {
        let rows = latent.len();
        let values = shifts.iter().flat_map(|shift| {
            let row = move |row: usize| self.mean[row] + latent[row] + shift * self.steps[row];
            (0..rows).map(row)
        });
        let data = TensorData::new(values.collect::<Vec<f64>>(), [shifts.len(), rows, 1]);
        let options = (&self.targets.device(), self.targets.dtype());
        Tensor::from_data(data, options)
    }

    /// A term whose gradient in the parameters of the likelihood is that of `Σ_i c₀·ℓ + c₁·∂ℓ/∂f + c₂·∂²ℓ/∂f²` for
    /// `ℓ = log p(y_i | f_i)` and factors c of each row, `[1]`. The likelihood is on a device with autodiff.
    pub fn surrogate(
        &self,
        likelihood: &AnyLikelihood,
        latent: &[f64],
        factors: &[Vec<f64>; 3],
    ) -> Tensor<1> {
        let rows = latent.len();
        let weights = (0..PLACES.len()).flat_map(|place| {
            (0..rows).map(move |row| {
                let step = self.steps[row];
                let own = if PLACES[place] == 0.0 {
                    factors[0][row]
                } else {
                    0.0
                };
                own + factors[1][row] * FIRST[place] / step
                    + factors[2][row] * SECOND[place] / step.powi(2)
            })
        });
        let data = TensorData::new(weights.collect::<Vec<f64>>(), [PLACES.len(), rows, 1]);
        let points = self.points(latent, &PLACES);
        let weights = Tensor::<3>::from_data(data, (&points.device(), points.dtype()));
        let targets = self.targets.clone().autodiff();
        let density = likelihood.log_density(targets, points.autodiff());
        (density * weights.autodiff()).sum()
    }

    /// `Σ log p(y_i | m_i + g_i)`, `[N]` to a number.
    pub fn value(&self, latent: &[f64]) -> f64 {
        let points = self.points(latent, &[0.0]);
        let density = self.likelihood.log_density(self.targets.clone(), points);
        numbers(density).into_iter().sum()
    }

    /// The log density and its derivatives at latent values g, `[N]`.
    pub fn derivatives(&self, latent: &[f64]) -> Derivatives {
        let rows = latent.len();
        let points = self.points(latent, &PLACES).autodiff().require_grad();
        let likelihood = tracked_like(&points, self.likelihood.clone()).no_grad();
        let targets = self.targets.clone().autodiff();
        let density = likelihood.log_density(targets, points.clone());
        let gradients = density.clone().sum().backward();
        // A likelihood that does not depend on its function has no gradient.
        let slopes = points.grad(&gradients).map_or_else(Vec::new, numbers);
        let slope = |place: usize, row: usize| slopes.get(place * rows + row).unwrap_or(&0.0);
        let difference = |coefficients: &[f64; 5], row: usize| -> f64 {
            let terms = coefficients.iter().enumerate();
            terms
                .map(|(place, factor)| factor * slope(place, row))
                .sum()
        };
        let all = 0..rows;
        let middle = PLACES.len() / 2;
        Derivatives {
            value: numbers(density.without_autodiff())[middle * rows..(middle + 1) * rows]
                .iter()
                .sum(),
            first: all.clone().map(|row| *slope(middle, row)).collect(),
            second: (all.clone())
                .map(|row| difference(&FIRST, row) / self.steps[row])
                .collect(),
            third: all
                .map(|row| difference(&SECOND, row) / self.steps[row].powi(2))
                .collect(),
        }
    }

    /// How accurate the mode can be in the precision of the targets.
    pub fn accuracy(&self) -> Accuracy {
        match self.targets.dtype() {
            DType::F64 => Accuracy {
                distance: 1e-7,
                rounding: 1e-14,
            },
            _ => Accuracy {
                distance: 1e-4,
                rounding: 1e-7,
            },
        }
    }
}
