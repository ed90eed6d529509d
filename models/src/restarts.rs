//! Training from several initial values of the hyperparameters.

use std::ops::RangeInclusive;

use burn::module::Module;
use burn_gp_core::{
    ops::is_on_cpu,
    parameter::{Parameters, Prior, hyperparameters},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::{
    AnyModel, FirstValues, ModelConfig,
    side_by_side::side_by_side,
    training::{AnyTrainer, Model, Training, TrainingData},
};

/// How often a value is drawn until it lies within its bounds.
const DRAWS: usize = 100;

/// Without a prior, initial values are multiplied by draws of a log-normal distribution whose median is one.
const AROUND_ONE: Prior = Prior::LogNormal {
    mean: 0.0,
    deviation: 1.0,
};

/// The numbers of rows for which models are trained side by side. For fewer, the threads of the trainings wait for each
/// other longer than one call saves. For more, every single training keeps all processors busy, and the covariance
/// matrices of one model at a time need less memory.
const ROWS_TOGETHER: RangeInclusive<usize> = 200..=1000;

/// The losses that training reached from several initial values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Restarts {
    /// The loss per row of each training, including priors: from the configured initial values first, then
    /// from those drawn. `None` if training failed or its loss is not finite.
    pub losses: Vec<Option<f64>>,
    /// The initial values with the smallest loss, by the paths of the parameters. Empty if these are the
    /// configured values.
    pub best: FirstValues,
}

/// Trains a model from its configured initial values, and `count` more times from random initial values of its
/// positive hyperparameters: draws of their priors, or, for those without a prior, the configured values
/// times `exp(z)`, `z ~ N(0, 1)`. The evidence of a Gaussian process can have several optima; the best of them is
/// more likely found from several starts.
///
/// Frozen hyperparameters, values of any sign, network weights and inducing points start at their configured values
/// every time. Exact regression on the CPU is trained side by side from all initial values if there are 200 to 1000
/// rows: the covariance matrices of all models are factored in one call. Each training makes the same steps as it would
/// alone. Other models are trained one after the other. `data` are [arranged](crate::ModelDefinition::arranged) and
/// on the device of training. `watch` is called for each training before it begins.
///
/// ```
/// use burn::tensor::{DType, Device};
/// use burn_gp_core::kernels::StationaryConfig;
/// use burn_gp_models::{ExactConfig, ModelConfig, restarts, training::{FullBatchTraining, TrainingData}};
///
/// let device = Device::default().autodiff();
/// let data = TrainingData::new(&[0.0, 0.5, 1.0, 1.5], &[0.1, 0.4, 0.9, 1.2], &device, DType::F64);
/// let config = ModelConfig::from(ExactConfig::new(StationaryConfig::rbf()));
/// let seed = 0;
/// let found = restarts(&config, &data, &FullBatchTraining::default().into(), (3, seed), || ());
/// assert_eq!(found.losses.len(), 4);
/// ```
pub fn restarts(
    config: &ModelConfig,
    data: &TrainingData,
    training: &Training,
    (count, seed): (usize, u64),
    mut watch: impl FnMut(),
) -> Restarts {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut starts = vec![FirstValues::new()];
    if let Ok(model) = config.init(data) {
        starts.extend((0..count).map(|_| drawn(config, &model, &mut random)));
    }
    let is_faster =
        starts.len() > 1 && ROWS_TOGETHER.contains(&data.len()) && is_on_cpu(&data.inputs);
    let losses = is_faster.then(|| losses_together(config, &starts, data, training, &mut watch));
    let losses = losses.flatten().unwrap_or_else(|| {
        let each = starts.iter().map(|start| {
            watch();
            loss_of(model_from(config, start, data)?, data, training)
        });
        each.collect()
    });
    let losses = losses
        .into_iter()
        .map(|loss| loss.filter(|loss| loss.is_finite()));
    let losses: Vec<Option<f64>> = losses.collect();
    let finished = (losses.iter().zip(starts)).filter_map(|(loss, start)| Some(((*loss)?, start)));
    let best = finished.min_by(|a, b| a.0.total_cmp(&b.0));
    Restarts {
        losses,
        best: best.map_or_else(FirstValues::new, |(_, start)| start),
    }
}

/// Random initial values of the positive hyperparameters of `model` that are trained.
fn drawn(config: &ModelConfig, model: &AnyModel, random: &mut ChaCha8Rng) -> FirstValues {
    let mut config = config.clone();
    let Some(parameters) = config.parameters() else {
        return FirstValues::new();
    };
    let is_frozen = |path: &str| {
        let frozen = parameters.frozen.iter();
        frozen.into_iter().any(|frozen| {
            (path.strip_prefix(frozen.as_str()))
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let mut values = FirstValues::new();
    for found in hyperparameters(model) {
        let Ok(bounds) = model.parameter_bounds(&found.path) else {
            continue;
        };
        if is_frozen(&found.path) || bounds.ends().0 < 0.0 {
            continue;
        }
        let prior = parameters.priors.0.get(&found.path);
        let mut draw = |configured: f64| {
            let mut draws = (0..DRAWS).map(|_| match prior {
                Some(prior) => prior.draw(random),
                None => configured * AROUND_ONE.draw(random),
            });
            let inside = draws.find(|value| bounds.contain(*value));
            inside.unwrap_or(configured)
        };
        let drawn = found.values.iter().map(|&configured| draw(configured));
        values.insert(found.path, drawn.collect());
    }
    values
}

/// The losses after training from all initial values side by side. `None` if the models are trained one after the
/// other.
fn losses_together(
    config: &ModelConfig,
    starts: &[FirstValues],
    data: &TrainingData,
    training: &Training,
    watch: &mut impl FnMut(),
) -> Option<Vec<Option<f64>>> {
    let Training::FullBatch(_) = training else {
        return None;
    };
    let models: Vec<AnyModel> = (starts.iter())
        .map(|start| model_from(config, start, data))
        .collect::<Option<_>>()?;
    let untracked: Vec<AnyModel> = models.iter().map(Module::valid).collect();
    let (inputs, targets) = (data.inputs.clone().inner(), data.targets.clone().inner());
    // The models can be evaluated together, whether or not their covariances have factors.
    let _supported = (untracked.first()?).objectives(&untracked, inputs, targets)?;
    starts.iter().for_each(|_| watch());
    let losses = side_by_side(models, data, |model| loss_of(model, data, training));
    Some(losses)
}

/// The model with these initial values, if it can be made.
fn model_from(config: &ModelConfig, start: &FirstValues, data: &TrainingData) -> Option<AnyModel> {
    let mut config = config.clone();
    if let Some(parameters) = config.parameters() {
        parameters.values.extend(start.clone());
    }
    config.init(data).ok()
}

/// The loss over all rows after training; `None` if training fails.
fn loss_of(model: AnyModel, data: &TrainingData, training: &Training) -> Option<f64> {
    let mut trainer = AnyTrainer::new(model, data.clone(), training.clone());
    while !trainer.is_fixed() && !trainer.is_finished() {
        trainer.step().ok()?;
    }
    trainer.loss(None, |_| ()).ok()
}

#[cfg(test)]
mod tests {
    use burn::tensor::{DType, Device};
    use burn_gp_core::{
        kernels::{KernelConfig, KernelDefinition, LinearConfig, StationaryConfig},
        means::MeanConfig,
        parameter::{Bounds, ParameterConfig, Priors},
    };

    use super::*;
    use crate::{
        ExactConfig,
        training::{FullBatchOptimizer, FullBatchTraining},
    };

    /// A wave of two inputs.
    fn data(rows: usize) -> TrainingData {
        let inputs: Vec<f64> = (0..2 * rows)
            .map(|index| (1.3 * index as f64).sin() * 2.0)
            .collect();
        let wave = |row: &[f64]| (2.0 * row[0]).sin() + 0.3 * row[1] + 0.1 * (37.0 * row[1]).cos();
        let targets: Vec<f64> = inputs.chunks(2).map(wave).collect();
        TrainingData::new(&inputs, &targets, &Device::default().autodiff(), DType::F64)
    }

    /// The losses side by side and in a loop.
    fn both(
        config: &ModelConfig,
        starts: &[FirstValues],
        training: &Training,
    ) -> [Vec<Option<f64>>; 2] {
        let data = data(30);
        let together = losses_together(config, starts, &data, training, &mut || ());
        let alone = starts.iter().map(|start| {
            let model = model_from(config, start, &data).expect("a model");
            loss_of(model, &data, training)
        });
        [together.expect("side by side"), alone.collect()]
    }

    fn assert_equal(what: &str, [together, alone]: [Vec<Option<f64>>; 2]) {
        assert_eq!(together.len(), alone.len(), "{what}");
        for (together, alone) in together.iter().zip(&alone) {
            match (together, alone) {
                // One call and a loop differ by rounding, which the steps of L-BFGS pass on.
                (Some(together), Some(alone)) => {
                    let error = (together - alone).abs() / alone.abs().max(1.0);
                    assert!(error < 1e-10, "{what}: {together} and {alone}");
                }
                (None, None) => {}
                _ => panic!("{what}: {together:?} and {alone:?}"),
            }
        }
    }

    /// Random starts of the values, drawn as restarts draw them.
    fn starts(config: &ModelConfig, count: usize) -> Vec<FirstValues> {
        let model = config.init(&data(30)).expect("a model");
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let drawn = (0..count).map(|_| drawn(config, &model, &mut random));
        [FirstValues::new()].into_iter().chain(drawn).collect()
    }

    /// Kernels with and without a network, means, priors, bounds and frozen parameters; L-BFGS and Adam.
    #[test]
    fn models_side_by_side_end_where_each_ends_alone() {
        let smooth = StationaryConfig::rbf();
        let kernels: [KernelConfig; 3] = [
            smooth.clone().into(),
            smooth.clone().plus(LinearConfig::default()),
            smooth.deep(Default::default(), 2),
        ];
        let prior = Prior::LogNormal {
            mean: 0.0,
            deviation: 0.5,
        };
        let parameters = ParameterConfig {
            bounds: [("likelihood.noise".to_owned(), Bounds::above(1e-3))].into(),
            priors: Priors([("likelihood.noise".to_owned(), prior)].into()),
            frozen: vec!["mean.offset".to_owned()],
            ..ParameterConfig::default()
        };
        for kernel in kernels {
            let what = kernel.name();
            let mut config = ExactConfig::new(kernel).with_parameters(parameters.clone());
            config.mean = MeanConfig::linear();
            let config = ModelConfig::from(config);
            let starts = starts(&config, 4);
            let steps = FullBatchTraining::default().with_iterations(12);
            let adam = FullBatchOptimizer::Adam {
                learning_rate: 0.05,
                schedule: Default::default(),
            };
            for training in [steps, steps.with_optimizer(adam)] {
                assert_equal(what, both(&config, &starts, &training.into()));
            }
        }
    }
}
