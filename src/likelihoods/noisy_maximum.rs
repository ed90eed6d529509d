//! The largest of several Gaussian functions with Gumbel noise, which reduces the integrals of the
//! softmax to one dimension.

use burn::tensor::{Tensor, TensorData};

use super::{gumbel_convolution::log_distribution, quadrature::SMALLEST_VARIANCE};
use crate::process::Marginals;

/// The mean of the standard Gumbel distribution, the Euler–Mascheroni constant.
const GUMBEL_MEAN: f64 = 0.577_215_664_901_532_9;

/// The line begins this many standard deviations, plus the reach of the noise, below the mean of a
/// function. A function falls below that with probability 10⁻⁹.
const DEVIATIONS_BELOW: f64 = 6.0;
const NOISE_BELOW: f64 = 4.0;

/// The line ends this many standard deviations, plus the reach of the noise, above every mean. The
/// noise has an exponential tail there, with 10⁻⁶ left beyond the end.
const DEVIATIONS_ABOVE: f64 = 6.5;
const NOISE_ABOVE: f64 = 14.0;

/// Nodes are densest at the mean of the function with the largest mean minus this many standard
/// deviations. A narrow function farther below does not affect the product; a wide one above is
/// smooth over a fifth of its distance.
const DEVIATIONS_OF_CENTER: f64 = 5.0;

/// The distance from there, in standard deviations of function plus noise, over which nodes are
/// equally dense.
const WIDTH: f64 = 3.0;

/// The size of temporary tensors, which are not kept for gradients. Larger inputs are processed in
/// batches of rows.
const BATCH: usize = 1 << 18;

/// The largest of `X_j = f_j + G_j`, with independent `f_j ~ N(μ_j, σ_j²)` and G_j from the
/// standard Gumbel distribution `exp(−e^{−x})`. Given f, the largest is `log Σ_j exp f_j` plus
/// Gumbel noise, and it is X_c with probability `exp f_c/Σ_j exp f_j` (J. Yellott, *The
/// relationship between Luce's choice axiom, Thurstone's theory of comparative judgment, and the
/// double exponential distribution*, 1977). Therefore
///
/// ```text
/// E[softmax_c(f)]       = ∫ F_c′(t) Π_{j≠c} F_j(t) dt
/// E[log Σ_j exp f_j] + γ = ∫ t Σ_c F_c′(t) Π_{j≠c} F_j(t) dt
/// ```
///
/// with the distribution functions F_j of X_j, for any number of classes. The integrals are
/// trapezoidal sums after the map `t = c + d·sinh v`. The noise makes every F_j smooth over a
/// distance of one, so the error decreases exponentially in the number of nodes.
#[derive(Clone, Debug)]
pub(super) struct NoisyMaximum {
    pub nodes: usize,
}

/// Moments of the functions, `[N, C, P]`.
#[derive(Clone)]
struct Functions {
    mean: Tensor<3>,
    variance: Tensor<3>,
}

/// Places t with the logarithms of their weights, both constant to autodiff.
struct Line {
    /// c, `[1, N, 1, P]`
    center: Tensor<4>,
    /// `t − c`, `[T, N, 1, P]`
    distance: Tensor<4>,
    /// `[T, N, 1, P]`
    log_weight: Tensor<4>,
}

/// The factors of the integrands, `[T, N, C, P]`.
struct Integrand {
    /// `log F_j`
    log_distribution: Tensor<4>,
    /// `log F_j′`
    log_slope: Tensor<4>,
}

/// Integrals with their derivatives.
struct Integrals {
    /// `E[log Σ_j exp f_j]`, `[N, P]`
    log_sum: Tensor<2>,
    /// `E[softmax]`, its derivatives with respect to the means, `[N, C, P]`
    slope_in_mean: Tensor<3>,
    /// `½·E[softmax·(1 − softmax)]`, its derivatives with respect to the variances, `[N, C, P]`
    slope_in_variance: Tensor<3>,
}

impl NoisyMaximum {
    /// `E[log Σ_j exp f_j]`.
    ///
    /// The derivatives are separate integrals, computed in the same pass. Autodiff sees a linear
    /// function of the moments and stores nothing per node.
    ///
    /// # Shapes
    ///
    /// - `marginals`: of the functions, `[N, C·P]`
    /// - result: `[N, P]`
    pub fn expected_log_sum(&self, marginals: Marginals, classes: usize) -> Tensor<2> {
        let functions = Functions::new(marginals, classes);
        let fixed = Functions {
            mean: functions.mean.clone().inner(),
            variance: functions.variance.clone().inner(),
        };
        let parts = fixed.batches(self.nodes);
        let parts: Vec<Integrals> = parts.map(|part| self.integrals(&part)).collect();
        let values =
            |of: fn(&Integrals) -> Tensor<2>| Tensor::cat(parts.iter().map(of).collect(), 0);
        let slopes =
            |of: fn(&Integrals) -> Tensor<3>| Tensor::cat(parts.iter().map(of).collect(), 0);
        let slope_in_mean = slopes(|part| part.slope_in_mean.clone());
        let slope_in_variance = slopes(|part| part.slope_in_variance.clone());
        // These differences are zero, but their gradients are not.
        let change = (functions.mean - fixed.mean) * slope_in_mean
            + (functions.variance - fixed.variance) * slope_in_variance;
        change.sum_dim(1).squeeze_dim::<2>(1) + values(|part| part.log_sum.clone())
    }

    /// `log E[softmax_c(f)]`, `[N, C·P]` from marginals `[N, C·P]`.
    pub fn log_probabilities(&self, marginals: Marginals, classes: usize) -> Tensor<2> {
        let shape = marginals.mean.dims();
        let functions = Functions::new(marginals, classes);
        let parts = functions
            .batches(self.nodes)
            .map(|part| self.log_probabilities_of(&part));
        Tensor::cat(parts.collect(), 0).reshape(shape)
    }

    fn log_probabilities_of(&self, functions: &Functions) -> Tensor<3> {
        let line = functions.line(self.nodes);
        let Integrand {
            log_distribution,
            log_slope,
        } = functions.integrand(&line);
        let log_product = log_distribution.clone().sum_dim(2) + line.log_weight;
        let log_probability = log_sum_exp(log_slope - log_distribution + log_product, 0);
        // The sum over all classes should be one; its error is common to all of them.
        let total = log_sum_exp(log_probability.clone(), 2);
        (log_probability - total).squeeze_dim(0)
    }

    fn integrals(&self, functions: &Functions) -> Integrals {
        let line = functions.line(self.nodes);
        let Integrand {
            log_distribution,
            log_slope,
        } = functions.integrand(&line);
        let product = (log_distribution.clone().sum_dim(2) + line.log_weight).exp();
        let rate = (log_slope - log_distribution).exp(); // r_c = F_c′/F_c
        let all_rates = rate.clone().sum_dim(2);
        let density = product.clone() * all_rates.clone();
        let total = density.clone().sum_dim(0); // one, up to the error of the sum
        let log_sum =
            (density * line.distance).sum_dim(0) / total.clone() + line.center - GUMBEL_MEAN;
        // Integration by parts turns the integral of −½·F_c″·Π_{j≠c} F_j into that of ½·Π_j
        // F_j·r_c·Σ_{k≠c} r_k.
        let share = rate.clone() * product;
        let slope_in_variance =
            (share.clone() * (all_rates - rate)).sum_dim(0) / total.clone() * 0.5;
        Integrals {
            log_sum: log_sum.squeeze_dim::<3>(0).squeeze_dim(1),
            slope_in_mean: (share.sum_dim(0) / total).squeeze_dim(0),
            slope_in_variance: slope_in_variance.squeeze_dim(0),
        }
    }
}

impl Functions {
    fn new(marginals: Marginals, classes: usize) -> Self {
        let [rows, functions] = marginals.mean.dims();
        let shape = [rows, classes, functions / classes];
        Self {
            mean: marginals.mean.reshape(shape),
            variance: (marginals.variance.clamp_min(SMALLEST_VARIANCE)).reshape(shape),
        }
    }

    /// Splits the rows into batches.
    fn batches(&self, nodes: usize) -> impl Iterator<Item = Self> + '_ {
        let [rows, classes, outputs] = self.mean.dims();
        let size = (BATCH / (nodes * classes * outputs)).max(1);
        (0..rows.max(1)).step_by(size).map(move |start| {
            let count = size.min(rows - start);
            Self {
                mean: self.mean.clone().narrow(0, start, count),
                variance: self.variance.clone().narrow(0, start, count),
            }
        })
    }

    /// `count` places along the line.
    fn line(&self, count: usize) -> Line {
        let mean = self.mean.clone().detach();
        let deviation = self.variance.clone().detach().sqrt();
        let (_, index) =
            (mean.clone() - deviation.clone() * DEVIATIONS_OF_CENTER).max_dim_with_indices(1);
        let center = mean.clone().gather(1, index.clone());
        let width = (deviation.clone().gather(1, index).square() + 1.0).sqrt() * WIDTH;
        let first = (mean.clone() - deviation.clone() * DEVIATIONS_BELOW).max_dim(1) - NOISE_BELOW;
        let last = (mean + deviation * DEVIATIONS_ABOVE).max_dim(1) + NOISE_ABOVE;
        let steps = |distance: Tensor<3>| {
            let ratio = distance / width.clone();
            (ratio.clone() + (ratio.square() + 1.0).sqrt()).log() // its inverse sinh
        };
        let below = steps(center.clone() - first);
        let spacing = (steps(last - center.clone()) + below.clone()) / (count - 1) as f64;
        let numbers: Vec<f64> = (0..count).map(|number| number as f64).collect();
        let options = (&width.device(), width.dtype());
        let numbers: Tensor<4> =
            Tensor::from_data(TensorData::new(numbers, [count, 1, 1, 1]), options);
        let growth = (numbers * spacing.clone().unsqueeze() - below.unsqueeze()).exp();
        let width: Tensor<4> = width.unsqueeze() * 0.5;
        let shrinkage = growth.clone().recip();
        let interval = spacing.unsqueeze::<4>() * width.clone();
        Line {
            distance: (growth.clone() - shrinkage.clone()) * width,
            log_weight: ((growth + shrinkage) * interval).log(),
            center: center.unsqueeze(),
        }
    }

    /// `F′(t) = E[e^{f−t}·exp(−e^{f−t})] = e^{μ−t+σ²/2}·F(t − σ²)`, since a factor `e^f` shifts the
    /// mean of a Gaussian by σ². This gives the upper tail to full precision, from values of F near
    /// its middle.
    fn integrand(&self, line: &Line) -> Integrand {
        let offset = line.center.clone() - self.mean.clone().unsqueeze::<4>();
        let place = line.distance.clone() + offset; // t − μ, [T, N, C, P]
        let variance: Tensor<4> = self.variance.clone().unsqueeze();
        let [nodes, ..] = place.dims();
        let moved = place.clone() - variance.clone();
        let both = Tensor::cat(vec![place.clone(), moved], 0);
        let both = log_distribution(both, &variance);
        let log_moved = both.clone().narrow(0, nodes, nodes);
        Integrand {
            log_distribution: both.narrow(0, 0, nodes),
            log_slope: log_moved - place + variance * 0.5,
        }
    }
}

/// `log Σ exp v` along a dimension.
fn log_sum_exp(values: Tensor<4>, dimension: usize) -> Tensor<4> {
    // The shift cancels in the value and in the gradient.
    let largest = values.clone().detach().max_dim(dimension);
    (values - largest.clone()).exp().sum_dim(dimension).log() + largest
}
