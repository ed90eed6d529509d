//! Mean functions: values, gradients, configuration.

use crate::reference::{
    assert_all_close, double_precision, gradients, single_precision, tensor, values,
};
use burn::tensor::{DType, Tensor};
use burn_gp_core::{
    means::{
        AnyMean, ConstantMean, LinearMean, MeanConfig, OffsetMean, OffsetMeanConfig, ZeroMean,
    },
    parameter::ParameterError,
};

#[test]
fn values_of_every_mean() {
    for (dtype, devices) in [
        (DType::F64, double_precision()),
        (DType::F32, single_precision()),
    ] {
        for (name, device) in devices {
            let options = (&device, dtype);
            let x = tensor(
                &vec![vec![1.0, 2.0], vec![-0.5, 4.0], vec![0.0, 0.0]],
                options,
            );
            let weights = tensor(&vec![vec![1.0, -2.0], vec![0.5, 3.0]], options);
            let offset = Tensor::<1>::from_data([0.25, -1.0], options);
            let cases = [
                (AnyMean::from(ZeroMean::new(2)), vec![0.0; 6]),
                (
                    ConstantMean::new(offset.clone()).into(),
                    [0.25, -1.0].repeat(3),
                ),
                (
                    OffsetMean::new(ConstantMean::new(offset.clone()), vec![1]).into(),
                    vec![2.25, 1.0, 4.25, 3.0, 0.25, -1.0],
                ),
                (
                    LinearMean::new(weights, offset).into(),
                    vec![2.25, 3.0, 1.75, 12.0, 0.25, -1.0],
                ),
            ];
            for (mean, expected) in cases {
                // These numbers are exact in both precisions.
                assert_eq!(values(mean.forward(x.clone())), expected, "{name} {mean:?}");
                let y = tensor(&vec![vec![3.0, 1.0]; 3], options);
                let residual = mean.residual(y.clone(), x.clone());
                let back = mean.add_to(residual.clone(), x.clone());
                assert_eq!(values(back), values(y.clone()), "{name} {mean:?}");
                let difference = y - residual;
                assert_eq!(values(difference), expected, "{name} {mean:?}");
            }
        }
    }
}

/// `∂/∂W Σ_n w_n·m(x_n)` and `∂/∂c`, derived by hand.
#[test]
fn gradients_reach_weights_and_offsets() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let x = tensor(&vec![vec![1.0, 2.0], vec![-0.5, 4.0]], options);
        let upstream = tensor(&vec![vec![1.0, 0.0], vec![2.0, -1.0]], options);
        let linear = MeanConfig::linear().init(2, 2, options);
        let loss = (linear.forward(x.clone()) * upstream.clone()).sum();
        let ours = gradients(&linear, &loss.backward());
        // W [D, P] = xᵀ·upstream, then c = column sums of upstream.
        let expected = [0.0, 0.5, 10.0, -4.0, 3.0, -1.0];
        assert_all_close(&ours, &expected, 1e-14, name);
        let constant = MeanConfig::constant(1.0).init(2, 2, options);
        let residual = constant.residual(upstream.clone(), x);
        let ours = gradients(&constant, &(residual * upstream).sum().backward());
        assert_all_close(&ours, &[-3.0, 1.0], 1e-14, name);
    }
}

/// `m(x) = Σ_d x_d + Wᵀx′ + c` with the other inputs x′: known terms have no weights.
#[test]
fn known_terms_have_the_coefficient_one() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let x = tensor(&vec![vec![1.0, 8.0, 2.0], vec![-0.5, 16.0, 4.0]], options);
        let config = OffsetMeanConfig::new(vec![2, 0]).with_base(MeanConfig::linear());
        let mean = MeanConfig::from(config).init(3, 2, options);
        // The linear mean starts at zero.
        let means = mean.forward(x.clone());
        assert_eq!(values(means), [3.0, 3.0, 3.5, 3.5], "{name}");
        let upstream = tensor(&vec![vec![1.0, 0.0], vec![2.0, -1.0]], options);
        let loss = (mean.forward(x) * upstream).sum();
        // W [1, P] = x′ᵀ·upstream, then c = column sums of upstream.
        let ours = gradients(&mean, &loss.backward());
        assert_all_close(&ours, &[40.0, -16.0, 3.0, -1.0], 1e-14, name);
        let none = Tensor::<2>::zeros([0, 3], options);
        assert_eq!(mean.forward(none).dims(), [0, 2], "{name}");
    }
}

#[test]
fn known_terms_must_be_some_of_the_inputs() {
    let mean = MeanConfig::from(OffsetMeanConfig::new(vec![1]));
    assert_eq!(mean.offset_dimensions(), [1]);
    assert!(MeanConfig::linear().offset_dimensions().is_empty());
    assert_eq!(mean.check_for("mean", 2), Ok(()));
    let missing = ParameterError::MissingInput {
        path: "mean".to_owned(),
        input: 1,
        inputs: 1,
    };
    assert_eq!(mean.check_for("mean", 1), Err(missing));
    let all = MeanConfig::from(OffsetMeanConfig::new(vec![1, 0]));
    let error = all.check_for("mean", 2).expect_err("no other input");
    assert!(
        error.to_string().contains("all inputs are added"),
        "{error}"
    );
    let none = r#"{"mean":"offset","dimensions":[],"base":{"mean":"zero"}}"#;
    let error = serde_json::from_str::<MeanConfig>(none).expect_err("no dimension");
    assert!(error.to_string().contains("name at least one"), "{error}");
}

#[test]
fn configurations_round_trip_as_json() {
    let cases = [
        (MeanConfig::zero(), r#"{"mean":"zero"}"#),
        (
            MeanConfig::constant(0.5),
            r#"{"mean":"constant","value":0.5}"#,
        ),
        (MeanConfig::linear(), r#"{"mean":"linear"}"#),
        (
            OffsetMeanConfig::new(vec![2]).into(),
            r#"{"mean":"offset","base":{"mean":"constant","value":0.0},"dimensions":[2]}"#,
        ),
    ];
    for (config, json) in cases {
        assert_eq!(serde_json::to_string(&config).unwrap(), json);
        assert_eq!(serde_json::from_str::<MeanConfig>(json).unwrap(), config);
    }
    let short: MeanConfig = serde_json::from_str(r#"{"mean":"constant"}"#).unwrap();
    assert_eq!(short, MeanConfig::constant(0.0));
}
