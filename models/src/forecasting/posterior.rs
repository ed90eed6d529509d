//! The posterior density of the parameters of a structure, in plain numbers.

use std::collections::BTreeMap;

use burn_gp_core::{
    kernels::StateSpaceNumbers,
    ops::StateSpaceError,
    parameter::{LOWER_BOUND, ParameterConfig, Prior},
};

use super::{
    quasi_newton::{Stopping, minimum},
    structure::{NOISE_PATH, Structure},
    term_form::TermForm,
    timeline::Timeline,
};

/// When training ends, in nats.
const STOPPING: Stopping = Stopping {
    iterations: 60,
    decrease: 0.02,
};
/// How much shorter memory is at the start of a second search, in numbers: about two standard deviations of its prior.
const SHORTER: f64 = 1.0;
/// Values stay this part of a bound away from it.
const INSIDE: f64 = 1e-3;
/// The search starts at least this part of the distance of both bounds away from them: a value at a bound has no slope.
const FROM_BOUNDS: f64 = 1e-3;

/// The values of all parameters of a structure, by their paths in its model.
pub(super) type Values = BTreeMap<String, Vec<f64>>;

/// A parameter in the place that it has in the terms.
#[derive(Debug)]
struct Parameter {
    path: String,
    value: f64,
    trained: Option<Trained>,
}

/// The range of the logarithm of a parameter, and its normal prior.
#[derive(Clone, Copy, Debug)]
struct Trained {
    least: f64,
    most: f64,
    mean: f64,
    deviation: f64,
}

impl Trained {
    /// The logarithm, `least + (most − least)/(1 + e⁻ˣ)`, at a number x, and its derivative.
    fn logarithm(&self, x: f64) -> [f64; 2] {
        let share = 1.0 / (1.0 + (-x).exp());
        let range = self.most - self.least;
        [self.least + range * share, range * share * (1.0 - share)]
    }

    /// The number with the logarithm of a value.
    fn number(&self, value: f64) -> f64 {
        let share = (value.ln() - self.least) / (self.most - self.least);
        let share = share.clamp(FROM_BOUNDS, 1.0 - FROM_BOUNDS);
        (share / (1.0 - share)).ln()
    }

    /// `−½((log θ − m)/s)²` and its derivative.
    fn prior(&self, logarithm: f64) -> [f64; 2] {
        let standard = (logarithm - self.mean) / self.deviation;
        [-0.5 * standard * standard, -standard / self.deviation]
    }
}

/// The log density of values at the times of a timeline, and of the logarithms of the parameters: the priors are
/// log-normal.
#[derive(Debug)]
pub(super) struct LogPosterior<'a> {
    /// The form of each term, and the number of its parameters.
    forms: Vec<(TermForm, usize)>,
    /// Those of all terms, and the noise variance.
    parameters: Vec<Parameter>,
    /// The place of the lengthscale of short memory among the trained parameters.
    memory: Option<usize>,
    timeline: &'a Timeline,
    targets: &'a [f64],
}

impl<'a> LogPosterior<'a> {
    /// The posterior of the parameters that are not fixed in a configuration of the structure.
    pub(super) fn new(
        structure: &Structure,
        config: &ParameterConfig,
        timeline: &'a Timeline,
        targets: &'a [f64],
    ) -> Self {
        let forms = structure.forms();
        let paths = forms.iter().flat_map(|(_, paths)| paths.iter().cloned());
        let paths = paths.chain([NOISE_PATH.to_owned()]);
        let parameter = |path: String| Parameter {
            value: (config.values.get(&path)).map_or(f64::NAN, |values| values[0]),
            trained: trained(config, &path),
            path,
        };
        let parameters: Vec<Parameter> = paths.map(parameter).collect();
        let trained = parameters.iter().filter(|own| own.trained.is_some());
        // The last term is memory, if there is any, and the noise follows.
        let memory = trained.count().checked_sub(2);
        Self {
            parameters,
            memory: memory.filter(|_| structure.has_memory),
            forms: (forms.iter())
                .map(|(form, paths)| (*form, paths.len()))
                .collect(),
            timeline,
            targets,
        }
    }

    /// The values with the largest density, from those of the configuration. Short memory may have two modes, one where
    /// it lasts so long that it is a part of the trend: a second search starts where it is short.
    ///
    /// # Errors
    ///
    /// When the filter fails at the values of the configuration.
    pub(super) fn maximum(&self) -> Result<Values, StateSpaceError> {
        let trained = self
            .parameters
            .iter()
            .filter_map(|own| Some((own, own.trained?)));
        let start: Vec<f64> = trained
            .map(|(own, range)| range.number(own.value))
            .collect();
        let loss = |point: &[f64]| self.loss(point);
        let (mut point, least) = minimum(&start, STOPPING, loss)?;
        if let Some(place) = self.memory {
            let mut shorter = start;
            shorter[place] -= SHORTER;
            // Where the filter fails, there is no other mode.
            if let Ok((other, value)) = minimum(&shorter, STOPPING, loss)
                && value < least
            {
                point = other;
            }
        }
        let values = self.values_at(&point).into_iter();
        let paths = self.parameters.iter().map(|own| own.path.clone());
        Ok(paths.zip(values.map(|value| vec![value])).collect())
    }

    /// All values at numbers for the trained ones.
    fn values_at(&self, point: &[f64]) -> Vec<f64> {
        let mut numbers = point.iter();
        let value = |own: &Parameter| match (own.trained, own.trained.and_then(|_| numbers.next()))
        {
            (Some(range), Some(x)) => range.logarithm(*x)[0].exp(),
            _ => own.value,
        };
        self.parameters.iter().map(value).collect()
    }

    /// The values of each term's parameters.
    fn of_terms<'v>(&self, values: &'v [f64]) -> Vec<(TermForm, &'v [f64])> {
        let mut first = 0;
        let of_term = |&(form, count): &(TermForm, usize)| {
            first += count;
            (form, &values[first - count..first])
        };
        self.forms.iter().map(of_term).collect()
    }

    /// The negative log posterior and its gradient.
    fn loss(&self, point: &[f64]) -> Result<(f64, Vec<f64>), StateSpaceError> {
        let values = self.values_at(point);
        let noise = values[values.len() - 1];
        let at_whole_steps = self.timeline.has_whole_steps();
        let of_terms = self.of_terms(&values);
        let terms = of_terms
            .iter()
            .map(|(form, own)| form.numbers(own, at_whole_steps));
        let terms: Vec<StateSpaceNumbers> = terms.collect();
        let score = (self.timeline).score(&terms, noise, self.targets)?;
        let mut slopes = Vec::with_capacity(values.len()); // with respect to logarithms
        let mut of_blocks = score.parameters.as_slice();
        for ((form, own), term) in of_terms.iter().zip(&terms) {
            let (of, others) = of_blocks.split_at(term.parameters());
            slopes.extend(form.log_slopes(own, at_whole_steps, of));
            of_blocks = others;
        }
        slopes.push(noise * score.noise);
        let mut loss = -score.log_density;
        let mut gradient = Vec::with_capacity(point.len());
        let trained = self.parameters.iter().zip(slopes);
        let trained = trained.filter_map(|(own, slope)| Some((own.trained?, slope)));
        for ((range, slope), &x) in trained.zip(point) {
            let [logarithm, change] = range.logarithm(x);
            let [density, of_prior] = range.prior(logarithm);
            loss -= density;
            gradient.push(-(slope + of_prior) * change);
        }
        Ok((loss, gradient))
    }
}

/// The state-space model of each term of a structure, and the noise variance. At whole steps alone, seasons of whole
/// steps need fewer states.
///
/// # Panics
///
/// If a value is missing.
pub(super) fn terms_at(
    structure: &Structure,
    values: &Values,
    at_whole_steps: bool,
) -> (Vec<StateSpaceNumbers>, f64) {
    let value = |path: &String| values[path][0];
    let of_term = |(form, paths): (TermForm, Vec<String>)| {
        let own: Vec<f64> = paths.iter().map(value).collect();
        form.numbers(&own, at_whole_steps)
    };
    let terms = structure.forms().into_iter().map(of_term).collect();
    (terms, value(&NOISE_PATH.to_owned()))
}

fn trained(config: &ParameterConfig, path: &str) -> Option<Trained> {
    let &Prior::LogNormal { mean, deviation } = config.priors.0.get(path)? else {
        return None;
    };
    let (least, most) = config.bounds.get(path).copied().unwrap_or_default().ends();
    Some(Trained {
        least: (least.max(LOWER_BOUND) * (1.0 + INSIDE)).ln(),
        most: (most * (1.0 - INSIDE)).ln(),
        mean,
        deviation,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecasting::{Season, Trend};

    const STRUCTURE_SPAN: f64 = 30.0;

    fn structure() -> Structure {
        Structure {
            trend: Trend::Slope,
            seasons: vec![Season::of_steps(4.0)],
            has_memory: true,
        }
    }

    /// Thirty values, at whole steps or not, with a covariate.
    fn data(shift: f64) -> (Timeline, Vec<f64>) {
        let time = |step: u32| f64::from(step) - 29.0 + shift * f64::from(step % 2);
        let times: Vec<f64> = (0..30).map(time).collect();
        let covariate = times.iter().map(|time| (0.9 * time).cos()).collect();
        let values = times.iter().map(|time| {
            0.05 * time
                + [0.9, 0.0, -0.8, 0.1][time.round().rem_euclid(4.0) as usize]
                + (time * time).sin() / 5.0
        });
        let values = values.collect();
        (Timeline::new(&times, |_| true, covariate), values)
    }

    /// The gradient is that of central differences, with covariates, at whole steps and elsewhere.
    #[test]
    fn the_gradient_is_that_of_central_differences() {
        for shift in [0.0, 0.25] {
            let (timeline, values) = data(shift);
            let config = structure().config(STRUCTURE_SPAN).parameters;
            let posterior = LogPosterior::new(&structure(), &config, &timeline, &values);
            let count = config.priors.0.len();
            let point: Vec<f64> = (0..count).map(|place| 0.4 - 0.15 * place as f64).collect();
            let (_, gradient) = posterior.loss(&point).unwrap();
            for (place, slope) in gradient.iter().enumerate() {
                let at = |change: f64| {
                    let mut other = point.clone();
                    other[place] += change;
                    posterior.loss(&other).unwrap().0
                };
                let expected = (at(1e-5) - at(-1e-5)) / 2e-5;
                // Harmonics that come and go have a billionth of the variance.
                let error = (slope - expected).abs();
                assert!(
                    error < 1e-5 * expected.abs().max(1.0),
                    "{place}: {slope} {expected}"
                );
            }
        }
    }

    /// The slope is almost zero at the found values, whose density is not below that where the search began.
    #[test]
    fn the_found_values_are_a_mode() {
        let (timeline, values) = data(0.0);
        let mut config = structure().config(STRUCTURE_SPAN).parameters;
        let posterior = LogPosterior::new(&structure(), &config, &timeline, &values);
        let numbers = |posterior: &LogPosterior<'_>| -> Vec<f64> {
            let all = posterior.parameters.iter();
            all.filter_map(|own| Some(own.trained?.number(own.value)))
                .collect()
        };
        let before = posterior.loss(&numbers(&posterior)).unwrap().0;
        config.values = posterior.maximum().unwrap();
        let found = LogPosterior::new(&structure(), &config, &timeline, &values);
        let (after, gradient) = found.loss(&numbers(&found)).unwrap();
        assert!(after <= before, "{before} {after}");
        // The search ends where a step gains less than 0.02 nats; curvatures are of order one.
        let steepest = gradient
            .iter()
            .fold(0.0, |most: f64, slope| most.max(slope.abs()));
        assert!(steepest < 0.5, "{gradient:?}");
    }
}
