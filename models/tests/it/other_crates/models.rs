//! The models and the layer that this crate registers, in training, in files and in predictions.

use burn::{
    module::Module,
    tensor::{Device, Tensor},
};
use burn_gp_core::{
    kernels::StationaryConfig,
    layers::{AnyLayer, GpLayer, Layer},
    likelihoods::GaussianConfig,
    means::MeanConfig,
    ops::NotPositiveDefinite,
    process::Process,
    register,
    variational::Evaluation,
};
use burn_gp_models::{
    DeepGpConfig, ExactConfig, Fit, FitModel, Fitted, InitError, LayerConfig, LayerDefinition,
    LayerInputs, LayerPlan, ModelConfig, ModelName, training::StepReport,
};
use serde::{Deserialize, Serialize};
use temp_dir::TempDir;

use super::own_models::{HalfConfig, TemperedConfig};

/// A dense layer in another type.
#[derive(Module, Debug)]
struct Wrapped {
    inner: GpLayer,
}

impl Layer for Wrapped {
    fn evaluate(&self, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        self.inner.evaluate(x)
    }

    fn condition(&self) -> Result<Box<dyn Process + Send + Sync>, NotPositiveDefinite> {
        self.inner.condition()
    }

    fn inducing_inputs(&self) -> Vec<Tensor<2>> {
        self.inner.inducing_inputs()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrappedForm {}

impl LayerDefinition for WrappedForm {
    fn init(&self, plan: &LayerPlan<'_>, inputs: &LayerInputs) -> Result<AnyLayer, InitError> {
        let inner = plan.gp_layer(inputs)?;
        Ok(Wrapped { inner }.into())
    }
}

register!(
    LayerDefinition,
    "wrapped",
    WrappedForm,
    "A dense layer in another type"
);

/// Fits a model and reads it from its files. Returns it with its losses.
fn fitted(config: &ModelConfig, fit: &Fit) -> (Fitted, Vec<f64>) {
    let x: Vec<f64> = (0..40).map(|row| f64::from(row) / 8.0).collect();
    let y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin()).collect();
    let mut losses = Vec::new();
    let watch = |report: StepReport| {
        losses.push(report.loss);
        std::ops::ControlFlow::Continue(())
    };
    let gp = config.fit_with(&x, &y, fit, watch).expect("a model");
    let folder = TempDir::new().expect("a folder");
    gp.save(folder.path()).expect("saved");
    let again = Fitted::load(folder.path(), &Device::default()).expect("loaded");
    assert_eq!(again.config(), gp.config());
    let [found, expected] = [&again, &gp].map(|gp| gp.predict(&x).expect("predictions"));
    assert_eq!(found.predictions(), expected.predictions());
    (again, losses)
}

fn means(gp: &Fitted) -> Vec<f64> {
    let predicted = gp.predict([0.3, 2.2, 4.9]).expect("predictions");
    predicted.predictions().mean.clone()
}

/// Half the evidence has the optimum of the evidence.
#[test]
fn a_full_batch_model_of_another_crate_is_trained_saved_and_loaded_by_its_name() {
    let config = ModelName::find("half").expect("registered").config();
    assert_eq!(config, HalfConfig::default().into());
    let fit = Fit::new().steps(200).default_priors(false);
    let (own, losses) = fitted(&config, &fit);
    assert_eq!(own.config().name(), "half");
    assert!(losses[losses.len() - 1] < losses[0] - 0.1, "{losses:?}");
    let (exact, _) = fitted(&ExactConfig::default().into(), &fit);
    for (own, exact) in means(&own).iter().zip(means(&exact)) {
        assert!((own - exact).abs() < 1e-3, "{own}, {exact}");
    }
    // It has no field for initial values, so random ones cannot reach it.
    let restarted = config.fit([0.0, 1.0, 2.0], [0.1, 0.4, 0.2], &fit.restarts(2));
    let error = restarted.expect_err("no restarts").to_string();
    assert!(error.starts_with("restarts has no effect"), "{error}");
}

/// With weight one, every step is that of `svgp`.
#[test]
fn a_mini_batch_model_of_another_crate_is_trained_saved_and_loaded_by_its_name() {
    let text = r#"{"model": "tempered", "weight": 1.0, "svgp": "#;
    let svgp = TemperedConfig::default().svgp;
    let text = text.to_owned() + &serde_json::to_string(&svgp).expect("text") + "}";
    let config: ModelConfig = serde_json::from_str(&text).expect("a configuration");
    let fit = Fit::adam(0.05)
        .steps(30)
        .batch_size(16)
        .default_priors(false);
    let (own, losses) = fitted(&config, &fit);
    assert_eq!(own.config().name(), "tempered");
    let (expected, losses_expected) = fitted(&svgp.into(), &fit);
    assert_eq!(losses, losses_expected);
    assert_eq!(means(&own), means(&expected));
}

/// A deep model with layers of this crate, by their name, makes the steps of one of the library.
#[test]
fn a_layer_of_another_crate_is_part_of_a_deep_model_by_its_name() {
    let layer = LayerConfig::new(StationaryConfig::matern52()).with_inducing(7);
    let hidden = (layer.clone())
        .with_mean(MeanConfig::identity())
        .with_deviation(0.1);
    let config = DeepGpConfig::new(layer, GaussianConfig::default()).with_hidden(2, hidden);
    let text = serde_json::to_string(&config).expect("text");
    let own = text.replace(r#""form":"dense""#, r#""form":"wrapped""#);
    assert_eq!(own.matches("wrapped").count(), 2, "{own}");
    let own: DeepGpConfig = serde_json::from_str(&own).expect("a configuration");
    assert_eq!(own.output.form, WrappedForm {}.into());
    let fit = Fit::adam(0.05).steps(10).batch_size(40);
    let (own, losses) = fitted(&own.into(), &fit);
    let (expected, losses_expected) = fitted(&config.into(), &fit);
    assert_eq!(losses, losses_expected);
    assert_eq!(means(&own), means(&expected));
}
