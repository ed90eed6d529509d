//! `--prior PATH=NAME(NUMBER, …)`.

use burn_gp_core::parameter::Prior;
use burn_gp_datasets::nearest;

use super::{ParameterOptionError, assignment, number};

assignment! {
    /// The prior of a parameter.
    PriorOption, prior: Prior, "PATH=PRIOR, such as kernel.lengthscale=gamma(2, 1)", parse,
    Prior::to_string
}

/// The forms of the priors.
const PRIORS: [&str; 5] = [
    "gamma(SHAPE, RATE)",
    "log-normal(MEAN, DEVIATION)",
    "split-log-normal(MODE, BELOW, ABOVE)",
    "half-normal(SCALE)",
    "uniform(LOWER, UPPER)",
];

fn parse(text: &str) -> Result<Prior, ParameterOptionError> {
    let unknown = || unknown(text);
    let (name, rest) = text.split_once('(').ok_or_else(unknown)?;
    let numbers = rest.strip_suffix(')').ok_or_else(unknown)?;
    let numbers: Vec<f64> = numbers.split(',').map(number).collect::<Result<_, _>>()?;
    match (name.trim(), numbers.as_slice()) {
        ("gamma", &[shape, rate]) => Ok(Prior::Gamma { shape, rate }),
        ("log-normal", &[mean, deviation]) => Ok(Prior::LogNormal { mean, deviation }),
        ("split-log-normal", &[mode, below, above]) => {
            Ok(Prior::SplitLogNormal { mode, below, above })
        }
        ("half-normal", &[scale]) => Ok(Prior::HalfNormal { scale }),
        ("uniform", &[lower, upper]) => Ok(Prior::Uniform { lower, upper }),
        _ => Err(unknown()),
    }
}

fn unknown(text: &str) -> ParameterOptionError {
    let name = |text: &'static str| text.split('(').next().unwrap_or_default();
    let wanted = text.split('(').next().unwrap_or_default();
    let nearest = nearest(wanted, PRIORS.into_iter().map(name));
    let form = nearest.and_then(|own| PRIORS.into_iter().find(|&prior| name(prior) == own));
    ParameterOptionError::Prior {
        text: text.to_owned(),
        nearest: form.map(str::to_owned),
        known: PRIORS.join(", "),
    }
}
