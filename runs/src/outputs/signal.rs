//! The functions and the noise of outputs: how large they are, and how the functions are correlated.

use burn_gp_models::Fitted;

use crate::text_table::aligned;

/// The least share of the function in the variance of an output whose correlations are shown. Those of a function
/// near zero mean nothing, and training leaves them at ±1 often.
const LEAST_SHARE: f64 = 0.1;

/// The functions and the noise of the outputs of a model.
pub struct Signals {
    /// The standard deviations of the functions in the units of the outputs, `[P]`; empty if the covariance of
    /// outputs is part of the kernel.
    pub signal: Vec<f64>,
    /// The standard deviations of the noise in the units of the outputs, `[P]`.
    pub noise: Vec<f64>,
    /// The correlations of the functions, `[P, P]`, those of `Γ = WWᵀ + diag κ`; `None` beside an output whose
    /// function has less than a tenth of its variance.
    pub correlations: Vec<Vec<Option<f64>>>,
}

impl Signals {
    /// Reads them from the hyperparameters.
    pub fn of(model: &Fitted) -> Self {
        let weights = values_of(model, "coregionalization.weights");
        let own = values_of(model, "coregionalization.own_variance");
        let noise = values_of(model, "likelihood.noise");
        let scales = (model.scaling().targets.as_ref()).map(|own| own.deviations.clone());
        let scales = scales.unwrap_or_else(|| vec![1.0; noise.len()]);
        let scaled = |variances: &[f64]| -> Vec<f64> {
            let pairs = variances.iter().zip(&scales);
            pairs
                .map(|(variance, scale)| variance.sqrt() * scale)
                .collect()
        };
        let covariance = covariance_of_outputs(&weights, &own);
        let variance = variance_of_kernel(model);
        let signal = (0..own.len()).map(|output| covariance[output][output] * variance);
        let signal: Vec<f64> = signal.collect();
        Self {
            correlations: correlations(&covariance, &signal, &noise),
            signal: scaled(&signal),
            noise: scaled(&noise),
        }
    }

    /// The correlations as lines, with a dash beside outputs without a function to speak of.
    pub fn lines(&self, names: &[String]) -> String {
        if self.correlations.is_empty() {
            return String::new();
        }
        let mut rows = vec![vec!["correlation".to_owned()]];
        rows[0].extend(names.iter().cloned());
        for (name, row) in names.iter().zip(&self.correlations) {
            let shown = |value: &Option<f64>| {
                value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
            };
            rows.push(
                std::iter::once(name.clone())
                    .chain(row.iter().map(shown))
                    .collect(),
            );
        }
        aligned(&rows).join("\n") + "\n"
    }
}

/// `WWᵀ + diag κ`, `[P, P]`, of W, `[P, R]`, row-major.
fn covariance_of_outputs(weights: &[f64], own: &[f64]) -> Vec<Vec<f64>> {
    let outputs = own.len();
    let rank = weights.len().checked_div(outputs).unwrap_or(0);
    let entry = |a: usize, b: usize| {
        let product = (0..rank).map(|q| weights[a * rank + q] * weights[b * rank + q]);
        product.sum::<f64>() + if a == b { own[a] } else { 0.0 }
    };
    (0..outputs)
        .map(|a| (0..outputs).map(|b| entry(a, b)).collect())
        .collect()
}

/// The correlations of outputs with this covariance, where both functions, with the variances `signal`, have a share
/// in the variances of the outputs.
fn correlations(covariance: &[Vec<f64>], signal: &[f64], noise: &[f64]) -> Vec<Vec<Option<f64>>> {
    let is_there = |output: usize| {
        let all = signal[output] + noise.get(output).copied().unwrap_or(0.0);
        signal[output] >= LEAST_SHARE * all
    };
    let entry = |a: usize, b: usize| {
        let scale = (covariance[a][a] * covariance[b][b]).sqrt();
        (is_there(a) && is_there(b)).then(|| covariance[a][b] / scale)
    };
    (0..signal.len())
        .map(|a| (0..signal.len()).map(|b| entry(a, b)).collect())
        .collect()
}

/// The variance of the kernel on the inputs.
fn variance_of_kernel(model: &Fitted) -> f64 {
    let paths = model.config().kernel().map(|kernel| kernel.variances());
    let values = paths.into_iter().flatten().flat_map(|path| {
        let values = values_of(model, &format!("kernel.{path}"));
        values.first().copied()
    });
    let total: f64 = values.sum();
    if total > 0.0 { total } else { 1.0 }
}

fn values_of(model: &Fitted, path: &str) -> Vec<f64> {
    let found = model
        .hyperparameters()
        .into_iter()
        .find(|own| own.path == path);
    found.map_or_else(Vec::new, |own| own.values)
}

#[cfg(test)]
mod tests {
    use super::{correlations, covariance_of_outputs};

    #[test]
    fn outputs_of_noise_have_no_correlation() {
        let covariance = covariance_of_outputs(&[1.0, -2.0, 0.1], &[1.0, 0.5, 0.0]);
        let signal = [2.0, 4.5, 0.01];
        let found = correlations(&covariance, &signal, &[0.5, 0.5, 1.0]);
        assert_eq!(found[0][0], Some(1.0));
        assert_eq!(found[0][1], Some(-2.0 / 3.0));
        assert_eq!(found[1][2], None);
        assert_eq!(found[2], [None; 3]);
    }
}
