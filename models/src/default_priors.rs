//! Priors of hyperparameters for which the user gives none.

use burn::tensor::Device;
use burn_gp_core::{
    kernels::KernelConfig,
    likelihoods::GaussianConfig,
    parameter::{Hyperparameter, Prior, Priors, hyperparameters},
};

use crate::ModelDefinition;

/// The largest number of rows for which priors are added. More rows outweigh the priors, which would
/// slow down every step.
const MOST_ROWS: usize = 5000;
/// The median lengthscale, in square roots of the number of inputs: in standardized inputs, the typical
/// distance of two rows is √(2D). Longer lengthscales than that make functions that few rows can determine.
const LENGTHSCALE: f64 = 3.0;
/// How much more alike the lengthscales of D inputs are expected to be with N rows: the standard deviation of
/// their logarithms is 1/(1 + c·D/N) below the mode.
const ALIKE: f64 = 4.0;
/// The same above the mode, where it is s/(1 + c·D/N). An input that does not matter has a lengthscale far above
/// the others, while a short lengthscale repeats the noise of the targets.
const LONG: f64 = 3.0;
const LONG_ALIKE: f64 = 14.0;
/// The standard deviation of the logarithm of a variance of a kernel, whose median is one.
const VARIANCE_DEVIATION: f64 = 3.0;

impl dyn ModelDefinition {
    /// Adds weak priors on the kernel and on Gaussian noise, for standardized data with `rows` rows and
    /// `dimensions` inputs. Existing priors are kept.
    ///
    /// | hyperparameter | prior of its logarithm |
    /// |---|---|
    /// | lengthscale that D inputs share, those on which the kernel acts | `N(log(3·√D), 1)` |
    /// | lengthscales of D inputs, from N rows | mode `log(3·√D)`, standard deviation `1/(1 + 4·D/N)` below it and `3/(1 + 14·D/N)` above it: inputs that do not matter have long lengthscales, but with about as many inputs as rows, the data cannot tell which inputs these are |
    /// | variance of a kernel | `N(0, 3²)`; `N(−log D, 3²)` of a kernel without lengthscales, such as a linear one, with D inputs |
    /// | noise variance | the noise has the gamma distribution with shape 2 and mean 1 |
    ///
    /// With few rows, or about as many inputs as rows, the evidence alone has optima in which the noise
    /// vanishes and short lengthscales repeat the noise of the training targets. The priors prefer smooth
    /// functions and noise unless the data say otherwise. The noise prior is a density of the logarithm and
    /// makes N rows count as N − 4: a 95 % interval of the normal distribution with that noise is then as wide
    /// as one of the Student-t distribution with N − 2 degrees of freedom, the distribution for an unknown
    /// scale (with S the sum of squares: `1.96·√(S/(N − 4)) ≈ t·√(S/(N − 2))`, .490√S and .495√S at N = 20).
    /// For lengthscales that grow with √D, see "Vanilla Bayesian Optimization Performs Great in High
    /// Dimensions" (arXiv:2402.02229, section 4).
    ///
    /// Models with more than 5000 rows, deep models, models on network features and models with
    /// separate kernels or coregionalization are not changed.
    pub fn add_default_priors(&mut self, rows: usize, dimensions: usize) {
        let Some(kernel) = self.kernel().filter(|_| rows <= MOST_ROWS) else {
            return;
        };
        let mut priors = default_priors(kernel, rows, dimensions);
        let likelihood = self.likelihood();
        if likelihood.downcast_ref::<GaussianConfig>().is_some() {
            priors.0.insert(NOISE.to_owned(), NOISE_PRIOR);
        }
        if let Some(parameters) = self.parameters() {
            priors.extend(std::mem::take(&mut parameters.priors));
            parameters.priors = priors;
        }
    }
}

const NOISE: &str = "likelihood.noise";

/// A gamma distribution with mean one: unless the data say otherwise, all variation of the targets is noise.
const NOISE_PRIOR: Prior = Prior::Gamma {
    shape: 2.0,
    rate: 2.0,
};

/// The priors of a kernel's hyperparameters, by their paths in a model.
fn default_priors(kernel: &KernelConfig, rows: usize, dimensions: usize) -> Priors {
    // The model itself reports what is wrong with the kernel.
    if kernel.check_for("kernel", dimensions).is_err() {
        return Priors::default();
    }
    let (kernel, dimensions) = (
        kernel.init(dimensions, &Device::default()),
        kernel.active_dimensions(dimensions).len(),
    );
    let all = hyperparameters(&kernel);
    let has_lengthscale = |path: &str| {
        let beside = match path.rsplit_once('.') {
            Some((field, _)) => format!("{field}.lengthscale"),
            None => "lengthscale".to_owned(),
        };
        all.iter().any(|other| other.path == beside)
    };
    let prior = |found: &Hyperparameter| {
        let count = found.values.len();
        let log_normal = |mean, deviation| Prior::LogNormal { mean, deviation };
        let prior = match found.path.rsplit('.').next()? {
            "lengthscale" if count > 1 => {
                let inputs_of_rows = count as f64 / rows as f64;
                Prior::SplitLogNormal {
                    mode: typical_lengthscale(count),
                    below: (1.0 + ALIKE * inputs_of_rows).recip(),
                    above: LONG / (1.0 + LONG_ALIKE * inputs_of_rows),
                }
            }
            "lengthscale" => log_normal(typical_lengthscale(dimensions), 1.0),
            "variance" if has_lengthscale(&found.path) => log_normal(0.0, VARIANCE_DEVIATION),
            "variance" => log_normal(-(dimensions as f64).ln(), VARIANCE_DEVIATION),
            _ => return None,
        };
        Some((format!("kernel.{}", found.path), prior))
    };
    Priors(all.iter().filter_map(prior).collect())
}

/// The logarithm of the median lengthscale of this many inputs.
fn typical_lengthscale(inputs: usize) -> f64 {
    (LENGTHSCALE * (inputs as f64).sqrt()).ln()
}
