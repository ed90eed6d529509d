//! Values of an independent implementation, with dense matrices in NumPy.

use burn::tensor::DType;
use burn_gp_core::{
    inference::{VecchiaLaplace, VecchiaLaplaceSettings},
    likelihoods::LikelihoodConfig,
    means::ZeroMean,
    ops::Stationary,
    process::Process,
};

use super::{kernel, neighbors};
use crate::reference::{
    Problem, assert_all_close, assert_close, double_precision, scalar, tensor, values,
};

const LABELS: [f64; 10] = [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0];

struct Expected {
    neighbors: usize,
    evidence: f64,
    mode: [f64; 10],
    variance: [f64; 10],
}

const EXPECTED: [Expected; 2] = [
    Expected {
        neighbors: 3,
        evidence: -6.6175771219847945,
        mode: [
            -0.7301472880961947,
            0.7245779690699808,
            -0.6208375265596057,
            0.6549858477377688,
            0.09947752281957489,
            -0.42546647943683963,
            0.5857207453833023,
            -0.688758020926278,
            0.7767996839976545,
            -0.33661440987086144,
        ],
        variance: [
            0.804152907862545,
            0.8527823909038583,
            0.8590732504513737,
            0.8317650885706069,
            0.6934181499072427,
            0.6580372316649787,
            0.6263762233005075,
            0.7153157986203194,
            0.7173806404735877,
            0.7715793664904058,
        ],
    },
    Expected {
        neighbors: 9,
        evidence: -6.4176470870211,
        mode: [
            -0.7625178030989509,
            0.7629956200239671,
            -0.6390188084195804,
            0.7170019357166161,
            0.18241647596592655,
            -0.49413398666648634,
            0.7402200018467935,
            -0.8591005544934609,
            0.985391013237092,
            -0.30189713983440947,
        ],
        variance: [
            0.8057829032596264,
            0.8688391368396491,
            0.8641340267005119,
            0.8061707075019902,
            0.6708199312692728,
            0.6754110416571262,
            0.6797778511035626,
            0.7653915794742225,
            0.7692625983453686,
            0.79159306809909,
        ],
    },
];

/// The logit likelihood with three neighbors, and with all: the dense Laplace approximation. The jitter of 1e-8 of the
/// variance changes the values by about as much.
#[test]
fn binary_labels() {
    let rows = [
        [0.103, 0.217],
        [0.911, 0.793],
        [0.154, 0.958],
        [0.862, 0.109],
        [0.497, 0.542],
        [0.289, 0.613],
        [0.718, 0.346],
        [0.052, 0.571],
        [0.947, 0.438],
        [0.405, 0.063],
    ];
    let problem = Problem {
        lengthscales: vec![0.5],
        variance: 1.3,
        x: rows.iter().map(|row| row.to_vec()).collect(),
        y: LABELS.iter().map(|&label| vec![label]).collect(),
        ..Problem::plane(Stationary::Matern32)
    };
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let (x, y) = (tensor(&problem.x, options), tensor(&problem.y, options));
        for expected in &EXPECTED {
            let what = format!("{name}, {} neighbors", expected.neighbors);
            let model = VecchiaLaplace::new(
                kernel(&problem, options),
                ZeroMean::new(1),
                LikelihoodConfig::bernoulli_logit().init(options),
                2,
                neighbors(expected.neighbors, 40),
                VecchiaLaplaceSettings::default(),
            );
            let evidence = scalar(model.full_objective(x.clone(), y.clone()).unwrap());
            assert_close(evidence, expected.evidence, 1e-7, &what);
            // Predictions at the rows themselves are the latent values.
            let process = model.condition(x.clone(), y.clone()).unwrap();
            let predicted = process.marginals(x.clone());
            assert_all_close(&values(predicted.mean), &expected.mode, 1e-7, &what);
            assert_all_close(&values(predicted.variance), &expected.variance, 1e-7, &what);
        }
    }
}
