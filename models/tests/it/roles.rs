//! Inducing variables and networks of a model that is not of this workspace.

use burn::{
    module::{Module, Param},
    nn,
    tensor::{DType, Device, Tensor},
};
use burn_gp_core::{
    features::AnyNetwork,
    inducing::InducingPoints,
    kernels::{Basis, FeatureMap},
    ops::NotPositiveDefinite,
    parameter::{Part, numbers},
};
use burn_gp_models::training::{
    InducingTraining, MiniBatchTrainer, MiniBatchTraining, Model, Objective, Trainer, TrainingData,
};

const RATE: f64 = 0.01;
const INDUCING_RATE: f64 = 0.002;
const NETWORK_RATE: f64 = 0.03;

/// The names of two fields are those of other roles.
#[derive(Module, Debug)]
struct Own {
    network: Param<Tensor<1>>,
    inducing: Param<Tensor<1>>,
    landmarks: Vec<InducingPoints>,
    body: Part<nn::Linear>,
    kernel: Basis,
}

impl Model for Own {
    /// `−½‖θ‖²`, so that every number of the model has a gradient.
    fn objective(
        &self,
        _inputs: Tensor<2>,
        _targets: Tensor<2>,
        _data_count: usize,
    ) -> Result<Objective, NotPositiveDefinite> {
        let points = self.landmarks.iter().map(|set| set.points().square().sum());
        let x = Tensor::ones([1, 2], (&self.network.device(), DType::F64));
        let features = FeatureMap::features(&self.kernel, x);
        let squares = [
            self.network.val().square().sum(),
            self.inducing.val().square().sum(),
            self.body.weight.val().square().sum(),
            features.square().sum(),
        ];
        let sum = points.chain(squares).fold(None, |sum, term| {
            Some(match sum {
                Some(sum) => sum + term,
                None => term,
            })
        });
        let sum: Tensor<1> = sum.expect("terms");
        Ok(Objective {
            fit: sum * -0.5,
            kl: None,
        })
    }
}

fn own(device: &Device) -> Own {
    let vector = || Param::from_tensor(Tensor::from_data([1.0, -2.0], (device, DType::F64)));
    let matrix = |sign: f64| {
        Tensor::<2>::from_data(
            [[1.0 * sign, -2.0], [0.5, 3.0 * sign]],
            (device, DType::F64),
        )
    };
    let layer = || nn::Linear {
        weight: Param::from_tensor(matrix(1.0)),
        bias: None,
    };
    Own {
        network: vector(),
        inducing: vector(),
        landmarks: [1.0, -1.0]
            .map(|sign| InducingPoints::new(matrix(sign)))
            .into(),
        body: Part::network(layer()),
        kernel: Basis::new(layer()),
    }
}

/// The first step of Adam is the learning rate in every coordinate, up to its ε.
#[test]
fn roles_belong_to_parts_and_not_to_the_names_of_fields() {
    let device = Device::default().autodiff();
    let data = TrainingData::new(&[0.0, 1.0], &[0.0, 1.0], &device, DType::F64);
    let training = MiniBatchTraining {
        learning_rate: RATE,
        network_rate: Some(NETWORK_RATE),
        inducing: Some(InducingTraining {
            learning_rate: Some(INDUCING_RATE),
            ..InducingTraining::default()
        }),
        ..MiniBatchTraining::new(1)
    };
    let before = own(&device);
    let mut trainer = MiniBatchTrainer::new(before.clone(), data, training);
    trainer.step().expect("a step");
    let after = trainer.model();
    let weights = |layer: &nn::Linear| numbers(layer.weight.val());
    let points = |model: &Own, set: usize| numbers(model.landmarks[set].points());
    for (what, before, after, rate) in [
        (
            "network",
            numbers(before.network.val()),
            numbers(after.network.val()),
            RATE,
        ),
        (
            "inducing",
            numbers(before.inducing.val()),
            numbers(after.inducing.val()),
            RATE,
        ),
        (
            "first landmarks",
            points(&before, 0),
            points(after, 0),
            INDUCING_RATE,
        ),
        (
            "second landmarks",
            points(&before, 1),
            points(after, 1),
            INDUCING_RATE,
        ),
        (
            "body",
            weights(&before.body),
            weights(&after.body),
            NETWORK_RATE,
        ),
        (
            "kernel",
            weights(linear(before.kernel.network())),
            weights(linear(after.kernel.network())),
            NETWORK_RATE,
        ),
    ] {
        for (before, after) in before.iter().zip(&after) {
            let moved = (after - before).abs();
            assert!((moved / rate - 1.0).abs() < 1e-3, "{what} moved by {moved}");
        }
    }
}

/// Parts are in no path: a record of a model does not say which modules are parts.
#[test]
fn a_model_with_parts_has_the_record_of_one_without() {
    #[derive(Module, Debug)]
    struct Plain {
        body: nn::Linear,
    }
    #[derive(Module, Debug)]
    struct WithPart {
        body: Part<nn::Linear>,
    }
    let device = Device::default();
    let layer = |bias| nn::LinearConfig::new(2, 3).with_bias(bias).init(&device);
    let plain = Plain { body: layer(true) };
    let with_part = WithPart {
        body: Part::network(layer(true)),
    };
    let loaded = with_part.load_record(plain.clone().into_record());
    assert_eq!(
        numbers(loaded.body.weight.val()),
        numbers(plain.body.weight.val())
    );
    let back = Plain { body: layer(true) }.load_record(loaded.clone().into_record());
    assert_eq!(
        numbers(back.body.weight.val()),
        numbers(plain.body.weight.val())
    );
    assert_eq!(
        loaded.to_string().replace("WithPart", "Plain"),
        plain.to_string()
    );
}

fn linear(network: &AnyNetwork) -> &nn::Linear {
    network.downcast_ref().expect("a linear layer")
}
