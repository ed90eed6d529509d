//! Options that a model does not use.

use serde_json::{Map, Value};

use super::{ModelName, OptimizerName, PolicyName, RunOptions, name_of};
use crate::option_error::OptionError;

/// The model and the options that a [`Use`] checks.
struct Asked<'a> {
    model: ModelName,
    /// The fields of the posterior.
    posterior: Map<String, Value>,
    options: &'a RunOptions,
}

impl Asked<'_> {
    fn has(&self, field: &str) -> bool {
        self.posterior.contains_key(field)
    }

    fn is_mini_batch(&self) -> bool {
        self.options.is_mini_batch(self.model)
    }
}

/// Options with the check whether the model uses them.
type Use = (&'static [&'static str], fn(&Asked<'_>) -> bool);

/// Options that only some models use; every model uses the others. The order matters, because the error names
/// the first unused option.
const USES: [Use; 32] = [
    (&["--weights"], |asked| {
        asked.model.takes_weights() && asked.is_mini_batch()
    }),
    (&["--devices"], |asked| asked.is_mini_batch()),
    (&["--stream"], |asked| {
        asked.model.streams() && asked.is_mini_batch()
    }),
    (&["--schedule", "--stages", "--stage-factor"], |asked| {
        asked.is_mini_batch() || asked.options.optimizer(asked.model) == OptimizerName::Adam
    }),
    (&["--optimizer"], |asked| {
        !asked.model.is_mini_batch() || asked.model.takes_l_bfgs()
    }),
    (&["--objective-tolerance"], |asked| {
        !asked.is_mini_batch() && asked.options.optimizer(asked.model) == OptimizerName::LBfgs
    }),
    (&["--action-start", "--action-rows"], |asked| {
        asked.model == ModelName::CagpOpt
    }),
    (&["--tolerance"], |asked| {
        asked.model.has_iterations() || asked.model == ModelName::Cggp
    }),
    (
        &["--iterations", "--trace-probes", "--cached-variances"],
        |asked| asked.model == ModelName::Cggp,
    ),
    (&["--policy"], |asked| asked.model == ModelName::Itergp),
    (&["--pivots"], |asked| {
        let has_rank = asked.options.policy == Some(PolicyName::PreconditionedCg);
        asked.model == ModelName::Cggp || asked.model == ModelName::Itergp && has_rank
    }),
    (&["--inducing", "--initializer"], |asked| {
        asked.model.has_inducing()
    }),
    (&["--actions"], |asked| asked.model.has_actions()),
    (&["--jitter"], |asked| {
        asked.model.has_inducing() && !asked.has("observations")
    }),
    (&["--covariance"], |asked| {
        asked.has("covariance") || asked.model == ModelName::Svdbk
    }),
    (
        &["--natural-gradient", "--natural-gradient-warm-up"],
        |asked| {
            let has_gaussian = !asked.has("observations");
            asked.model.takes_any_likelihood() && asked.is_mini_batch() && has_gaussian
        },
    ),
    (
        &["--plain-mean", "--pseudo-noise", "--pseudo-noise-floor"],
        |asked| asked.has("observations"),
    ),
    (
        &[
            "--auxiliary",
            "--inversion",
            "--inversion-tolerance",
            "--inversion-steps",
            "--probes",
        ],
        |asked| asked.has("auxiliary"),
    ),
    (&["--batch-size"], |asked| {
        asked.model.has_batches() && asked.is_mini_batch()
    }),
    (
        &[
            "--plateau",
            "--gradient-norm",
            "--validation",
            "--validation-fraction",
            "--early-stopping",
            "--validation-epochs",
            "--patience",
            "--keep",
        ],
        |asked| asked.is_mini_batch(),
    ),
    (
        &[
            "--inducing-frozen",
            "--inducing-rate",
            "--inducing-momentum",
            "--inducing-plateau",
        ],
        |asked| asked.is_mini_batch() && asked.model.has_inducing(),
    ),
    (&["--orthogonal"], |asked| {
        asked.model.has_orthogonal(asked.options.posterior)
    }),
    (&["--columns"], |asked| asked.has("columns")),
    (&["--posterior", "--output-deviation"], |asked| {
        asked.model.has_layers()
    }),
    (
        &[
            "--layers",
            "--width",
            "--hidden-inducing",
            "--hidden-mean",
            "--hidden-variance",
            "--hidden-deviation",
            "--samples",
            "--prediction-samples",
        ],
        |asked| matches!(asked.model, ModelName::DeepGp | ModelName::DeepConvGp),
    ),
    (&["--image", "--patch", "--stride", "--located"], |asked| {
        asked.model.is_of_images()
    }),
    (&["--default-priors"], |asked| {
        !asked.model.has_network() && !asked.model.has_layers()
    }),
    (&["--kernel", "--isotropic"], |asked| {
        !asked.model.has_basis()
    }),
    (
        &[
            "--backbone",
            "--normalization",
            "--units",
            "--blocks",
            "--weight-decay",
            "--network-rate",
        ],
        |asked| asked.model.has_network(),
    ),
    (&["--rank"], |asked| asked.model.has_basis()),
    (&["--features", "--from-identity"], |asked| {
        asked.model.is_deep_kernel()
    }),
    (
        &[
            "--no-correction",
            "--training-correction",
            "--prediction-correction",
        ],
        |asked| matches!(asked.model, ModelName::Dbk | ModelName::Svdbk),
    ),
];

impl RunOptions {
    /// The given options that `model` does not use.
    pub fn without_use(&self, model: ModelName) -> Vec<&'static str> {
        let given = self.fields();
        let asked = Asked {
            model,
            posterior: model.posterior_fields(self.posterior),
            options: self,
        };
        let useless = USES.iter().filter(|(_, has_use)| !has_use(&asked));
        let options = useless.flat_map(|(options, _)| options.iter().copied());
        options
            .filter(|option| given.contains_key(&field(option)))
            .collect()
    }

    /// Fails on the first given option that `model` does not use.
    ///
    /// # Errors
    ///
    /// [`OptionError::NotApplicable`].
    pub fn require_use(&self, model: ModelName) -> Result<(), OptionError> {
        match self.without_use(model).first() {
            Some(&option) => Err(OptionError::NotApplicable {
                option,
                model: name_of(model),
            }),
            None => Ok(()),
        }
    }

    /// Removes the options that the model does not use. The share of validation rows stays, because no model of
    /// a comparison trains on these rows.
    pub fn used(self) -> Self {
        let useless = self.without_use(self.model()).into_iter().map(field);
        let mut useless: Vec<String> = useless
            .filter(|name| name != "validation_fraction")
            .collect();
        if self.is_mini_batch(self.model()) {
            // Adam is the only optimizer on mini-batches.
            useless.push(field("--optimizer"));
        }
        self.without(&useless)
    }
}

/// The field of an option.
fn field(option: &str) -> String {
    option.trim_start_matches('-').replace('-', "_")
}
