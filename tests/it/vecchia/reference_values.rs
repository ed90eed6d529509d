//! Values of an independent implementation.

use super::{golden, model, settings, zero};
use crate::reference::{
    add_diagonal, assert_all_close, assert_close, double_precision, scalar, tensor, values,
};
use burn::tensor::{DType, Tensor};
use burn_gp_core::{means::MeanConfig, process::Process};

/// Values of an independent implementation, with Matérn-3/2 and three neighbors of each row.
#[test]
fn objectives_have_the_reference_values() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = golden();
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let constant = MeanConfig::constant(0.4).init(2, 1, options);
        let three = model(&problem, constant.clone(), settings(3, 1), options);
        let ours = scalar(three.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(ours, -7.221_889_452_246_957, 1e-13, name);
        let batch = three
            .batch_objective(x.clone(), y.clone(), &[1, 4, 7, 10])
            .unwrap();
        assert_close(scalar(batch), -8.221_306_655_606_286, 1e-13, name);
        let all = model(&problem, constant, settings(11, 1), options);
        let ours = scalar(all.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(ours, -6.702_144_220_524_763, 1e-12, name);

        let centered = model(&problem, zero(1), settings(3, 1), options);
        let design = Tensor::ones([12, 1], options);
        let fit = centered.least_squares(x, y, design).unwrap();
        assert_close(
            values(fit.coefficients)[0],
            0.420_520_951_921_002,
            1e-12,
            name,
        );
        let error = values(fit.covariance)[0].sqrt();
        assert_close(error, 0.967_302_224_571_42, 1e-12, name);
    }
}

/// `KL(p‖p̃)` of 1 to 11 neighbors.
#[test]
fn divergences_have_the_reference_values() {
    let expected = [
        3.125_748_709_045_698,
        0.807_092_494_425_174_5,
        0.405_159_706_475_461_5,
        0.190_698_384_567_631_3,
        0.135_365_913_333_351_35,
        0.100_305_526_425_001_01,
        0.077_617_916_917_855_47,
        0.014_951_945_011_013_38,
        0.000_162_781_128_477_896,
        0.000_006_779_942_735_236,
        0.0,
    ];
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let mut problem = golden();
    problem.y.iter_mut().for_each(|row| row[0] = 0.0);
    let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
    let noisy = add_diagonal(problem.covariance(&problem.x, &problem.x), problem.noise);
    let exact = problem.log_density(&noisy);
    for (fewer, expected) in expected.into_iter().enumerate() {
        let model = model(&problem, zero(1), settings(fewer + 1, 1), options);
        let ours = exact - scalar(model.full_objective(x.clone(), y.clone()).unwrap());
        assert_close(ours, expected, 1e-12, name);
    }
}

/// With all rows as neighbors, the process is the exact one.
#[test]
fn predictions_have_the_reference_values() {
    let mean = [
        0.497_322_590_040_492,
        0.557_577_880_445_815,
        0.682_500_548_631_86,
        0.684_766_742_634_625,
    ];
    let variance = [
        0.040_116_837_303_707,
        0.036_903_809_953_714,
        1.463_958_377_633_079,
        1.424_084_248_667_527,
    ];
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let problem = golden();
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        let constant = MeanConfig::constant(0.4).init(2, 1, options);
        let process = model(&problem, constant, settings(3, 60), options)
            .condition(x, y)
            .unwrap();
        let marginals = process.marginals(tensor(&problem.new_x, options));
        assert_all_close(&values(marginals.mean), &mean, 1e-12, name);
        assert_all_close(&values(marginals.variance), &variance, 1e-12, name);
        let joint = process.joint(tensor(&problem.new_x, options));
        assert_all_close(&values(joint.mean), &mean, 1e-12, name);
        let covariance = values(joint.covariance);
        assert_close(covariance[1], 0.035_371_590_210_113, 1e-12, name);
        assert_close(covariance[14], 1.353_460_986_907_99, 1e-12, name);
    }
}
