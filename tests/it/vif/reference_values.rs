//! Values of an independent implementation.

use super::{settings, stationary, with_parts};
use crate::{
    reference::{assert_close, double_precision, scalar, tensor},
    vecchia::golden,
};
use burn::tensor::DType;
use burn_gp_core::{means::MeanConfig, ops::Stationary};

/// The log densities with inducing points at the first three rows: with three neighbors, without neighbors (FITC), and
/// with all earlier rows (exact).
#[test]
fn objectives_have_the_reference_values() {
    let expected = [
        (
            Stationary::Matern12,
            [
                -10.937_062_075_310_756,
                -12.148_114_447_057_98,
                -10.892_832_692_848_325,
            ],
        ),
        (
            Stationary::Matern32,
            [
                -6.865_619_451_689_28,
                -9.137_351_676_940_792,
                -6.702_144_220_524_803,
            ],
        ),
        (
            Stationary::Matern52,
            [
                -5.414_114_631_030_253,
                -7.938_161_082_567_674_5,
                -5.180_955_713_708_993,
            ],
        ),
    ];
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        for (kind, expected) in expected {
            let mut problem = golden();
            problem.kind = kind;
            let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
            let first = problem.x[..3].to_vec();
            for (neighbors, expected) in [3, 0, 11].into_iter().zip(expected) {
                let mean = MeanConfig::constant(0.4).init(2, 1, options);
                let parts = (stationary(&problem, options), mean);
                let vif = with_parts(&problem, parts, &first, settings(neighbors, 1), options);
                let ours = scalar(vif.full_objective(x.clone(), y.clone()).unwrap());
                let what = format!("{name}, {kind:?}, {neighbors} neighbors");
                assert_close(ours, expected, 1e-12, &what);
            }
        }
    }
}
