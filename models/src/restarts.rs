//! Training from several initial values of the hyperparameters.

use burn_gp_core::parameter::{Parameters, Prior, hyperparameters};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::{
    AnyModel, FirstValues, ModelConfig,
    training::{AnyTrainer, Training, TrainingData},
};

/// How often a value is drawn until it lies within its bounds.
const DRAWS: usize = 100;

/// Without a prior, initial values are multiplied by draws of a log-normal distribution whose median is one.
const AROUND_ONE: Prior = Prior::LogNormal {
    mean: 0.0,
    deviation: 1.0,
};

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
/// every time. `data` are [arranged](crate::ModelDefinition::arranged) and on the device of training. `watch` is
/// called before each training.
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
    let losses = starts.iter().map(|start| {
        watch();
        let loss = loss_from(config, start, data, training);
        loss.filter(|loss| loss.is_finite())
    });
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

/// The loss over all rows after training from these initial values; `None` if training fails.
fn loss_from(
    config: &ModelConfig,
    start: &FirstValues,
    data: &TrainingData,
    training: &Training,
) -> Option<f64> {
    let mut config = config.clone();
    if let Some(parameters) = config.parameters() {
        parameters.values.extend(start.clone());
    }
    let model = config.init(data).ok()?;
    let mut trainer = AnyTrainer::new(model, data.clone(), training.clone());
    while !trainer.is_fixed() && !trainer.is_finished() {
        trainer.step().ok()?;
    }
    trainer.loss(None, |_| ()).ok()
}
