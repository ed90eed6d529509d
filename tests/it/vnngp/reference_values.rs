//! Values of an independent implementation, with dense matrices in NumPy.

use burn::tensor::{DType, Tensor};
use burn_gp_core::{
    likelihoods::{AnyLikelihood, Gaussian, LikelihoodConfig},
    means::ZeroMean,
    ops::Jitter,
    process::Process,
};

use super::{DEVIATIONS, MEANS, model_of_ten, ten_rows};
use crate::{
    reference::{
        assert_all_close, assert_close, double_precision, gradients, scalar, single_precision,
        tensor, values,
    },
    vecchia::Options,
};

/// The terms of a likelihood.
struct Likelihood {
    name: &'static str,
    targets: [f64; 10],
    bound: f64,
    /// In μ and in log s.
    gradient: [[f64; 10]; 2],
    /// The estimate from the rows 2, 5 and 8.
    estimate: f64,
}

struct Expected {
    neighbors: usize,
    divergences: [f64; 10],
    likelihoods: [Likelihood; 3],
    /// At two new rows.
    mean: [f64; 2],
    variance: [f64; 2],
}

const EXPECTED: [Expected; 2] = [
    Expected {
        neighbors: 3,
        divergences: [
            0.87361647502122,
            1.2748392231236492,
            0.7698017176050699,
            0.7117339504265715,
            0.9982899406970824,
            0.3489872553917709,
            0.47082526856250373,
            0.16994821182006875,
            0.38324729591578327,
            0.3913958853260757,
        ],
        likelihoods: [
            Likelihood {
                name: "gaussian",
                targets: [0.31, 1.12, -0.45, 0.87, 0.62, 0.05, 0.93, -0.21, 1.3, 0.48],
                bound: -11.621630993766022,
                gradient: [
                    [
                        0.6315931680919223,
                        1.255043613051446,
                        0.5852555748413414,
                        1.3151241598466599,
                        0.5925975462721483,
                        1.22805934253434,
                        0.9009293521031488,
                        0.9573218801862571,
                        1.5158662430696135,
                        1.6620478437043058,
                    ],
                    [
                        0.3671910405293727,
                        0.5918482971450121,
                        -0.03192073023812015,
                        0.12567223100280808,
                        0.6608094525111273,
                        0.15535274310621103,
                        0.4310529466312025,
                        -0.5682084473887878,
                        0.2905779011262019,
                        0.1508963743512158,
                    ],
                ],
                estimate: -10.523983332918306,
            },
            Likelihood {
                name: "bernoulli_logit",
                targets: [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
                bound: -11.795227266304623,
                gradient: [
                    [
                        -0.9428490484817487,
                        -0.03245135892410206,
                        -0.04658414777100667,
                        0.32334620990538665,
                        -0.10515909215044617,
                        0.0025015591080110866,
                        0.08501366671923791,
                        0.07839773208993095,
                        -0.19130552326500921,
                        -0.2863593135943695,
                    ],
                    [
                        0.7952273993279868,
                        0.8910967897110302,
                        0.7316465278565651,
                        0.7107643729370988,
                        0.8512825403531185,
                        0.5833891019048252,
                        0.7298371963830175,
                        0.39693837398915094,
                        0.7222780370263009,
                        0.7339277076823653,
                    ],
                ],
                estimate: -10.001552665850836,
            },
            Likelihood {
                name: "poisson",
                targets: [1.0, 3.0, 0.0, 2.0, 1.0, 1.0, 2.0, 0.0, 4.0, 1.0],
                bound: -18.83252202453581,
                gradient: [
                    [
                        -0.5744464021760991,
                        0.35885643195991035,
                        -0.3217912449737154,
                        0.02791182284010245,
                        -1.0293640093464855,
                        0.5315741945808561,
                        -0.32674672816298456,
                        -0.3124329262330704,
                        0.9430528644812874,
                        -0.036504419218737816,
                    ],
                    [
                        0.7131474792052507,
                        0.7608365983267911,
                        0.6629517785914709,
                        0.5008637197195046,
                        0.799930990286382,
                        0.5201690797903975,
                        0.6136981916145692,
                        0.2782912043112984,
                        0.5090246970532525,
                        0.6043237221431429,
                    ],
                ],
                estimate: -17.85478481872479,
            },
        ],
        mean: [0.38898175678113, 0.4214641950248853],
        variance: [0.18754345817899865, 0.0916429218468447],
    },
    Expected {
        neighbors: 9,
        divergences: [
            0.87361647502122,
            1.2748392231236492,
            0.7698017176050699,
            0.7117339504265715,
            0.9518622402035191,
            0.30348257744835605,
            0.44396656745726,
            0.1681054224079636,
            0.3699222049236408,
            0.3846445969465793,
        ],
        likelihoods: [
            Likelihood {
                name: "gaussian",
                targets: [0.31, 1.12, -0.45, 0.87, 0.62, 0.05, 0.93, -0.21, 1.3, 0.48],
                bound: -11.480920745440056,
                gradient: [
                    [
                        0.7313670082249384,
                        1.2023375239863958,
                        0.7092270109490815,
                        1.200547812768626,
                        0.6582847971260228,
                        1.0922754606444272,
                        1.1869897154700602,
                        0.6466314391460233,
                        1.6329338946155783,
                        1.6410915237338182,
                    ],
                    [
                        0.346236216201536,
                        0.5896722309353299,
                        -0.03026472416936401,
                        0.11513173185735222,
                        0.5856234902313956,
                        -0.0012612943777467666,
                        0.3721118249683215,
                        -0.6613856469328043,
                        0.2651461330890316,
                        0.12865212994781566,
                    ],
                ],
                estimate: -10.327884103133115,
            },
            Likelihood {
                name: "bernoulli_logit",
                targets: [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0],
                bound: -11.654517017978657,
                gradient: [
                    [
                        -0.8430752083487327,
                        -0.0851574479891522,
                        0.07738728833673336,
                        0.2087698628273527,
                        -0.03947184129657172,
                        -0.13328232278190183,
                        0.37107403008614925,
                        -0.23229270895030285,
                        -0.07423787171904456,
                        -0.30731563356485714,
                    ],
                    [
                        0.7742725750001502,
                        0.8889207235013481,
                        0.7333025339253213,
                        0.700223873791643,
                        0.7760965780733866,
                        0.4267750644208674,
                        0.6708960747201365,
                        0.30376117444513445,
                        0.6968462689891307,
                        0.7116834632789651,
                    ],
                ],
                estimate: -9.805453436065646,
            },
            Likelihood {
                name: "poisson",
                targets: [1.0, 3.0, 0.0, 2.0, 1.0, 1.0, 2.0, 0.0, 4.0, 1.0],
                bound: -18.691811776209843,
                gradient: [
                    [
                        -0.4746725620430831,
                        0.3061503428948602,
                        -0.1978198088659754,
                        -0.08666452423793153,
                        -0.9636767584926109,
                        0.39579031269094317,
                        -0.04068636479607321,
                        -0.6231233672733042,
                        1.0601205160272522,
                        -0.05746073918922548,
                    ],
                    [
                        0.692192654877414,
                        0.7586605321171089,
                        0.664607784660227,
                        0.49032322057404876,
                        0.7247450280066502,
                        0.36355504230643965,
                        0.5547570699516882,
                        0.18511400476728188,
                        0.4835929290160822,
                        0.5820794777397427,
                    ],
                ],
                estimate: -17.6586855889396,
            },
        ],
        mean: [0.32826927507191017, 0.3806498123723288],
        variance: [0.13574652519494623, 0.07851162889864133],
    },
];

fn likelihood(name: &str, options: Options<'_>) -> AnyLikelihood {
    match name {
        "gaussian" => Gaussian::new(0.2, options).into(),
        "bernoulli_logit" => LikelihoodConfig::bernoulli_logit().init(options),
        _ => LikelihoodConfig::poisson().init(options),
    }
}

/// Divergences, bounds, estimates from some rows, gradients and predictions. Both implementations integrate the two
/// likelihoods that are not Gaussian by quadrature, which agrees to 1e-9 at these deviations.
#[test]
fn divergences_bounds_and_predictions() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        for expected in &EXPECTED {
            let what = format!("{name}, {} neighbors", expected.neighbors);
            for case in &expected.likelihoods {
                check(case, expected, &what, options);
            }
        }
    }
}

fn check(case: &Likelihood, expected: &Expected, what: &str, options: Options<'_>) {
    let what = format!("{what}, {}", case.name);
    let likelihood = likelihood(case.name, options);
    let model = model_of_ten(likelihood, expected.neighbors, Jitter::NONE, options);
    let model = model.with_frozen_hyperparameters();
    let divergences = values(model.divergences().unwrap());
    assert_all_close(&divergences, &expected.divergences, 1e-12, &what);
    let x = tensor(&ten_rows().x, options);
    let y = tensor(&case.targets.iter().map(|&y| vec![y]).collect(), options);
    let bound = model.objective(x.clone(), y.clone(), 10).unwrap();
    assert_close(scalar(bound.clone()), case.bound, 1e-9, &what);
    let found = gradients(&model, &bound.backward());
    assert_all_close(&found, &case.gradient.concat(), 1e-8, &what);
    let some = |all: &Tensor<2>| {
        let rows = [2, 5, 8].map(|row| all.clone().narrow(0, row, 1));
        Tensor::cat(rows.to_vec(), 0)
    };
    let estimate = model.objective(some(&x), some(&y), 10).unwrap();
    assert_close(scalar(estimate), case.estimate, 1e-9, &what);
    let process = model.condition();
    let plain = (&options.0.clone().without_autodiff(), options.1);
    let marginals = process.marginals(tensor(&ten_rows().new_x, plain));
    assert_all_close(&values(marginals.mean), &expected.mean, 1e-12, &what);
    assert_all_close(
        &values(marginals.variance),
        &expected.variance,
        1e-12,
        &what,
    );
}

/// Single precision has seven digits, of which the conditional variances, a tenth of those of the function, take one.
#[test]
fn single_precision_is_close() {
    for (name, device) in single_precision() {
        let options = (&device, DType::F32);
        for expected in &EXPECTED {
            for case in &expected.likelihoods {
                let what = format!("{name}, {} neighbors, {}", expected.neighbors, case.name);
                let likelihood = likelihood(case.name, options);
                let jitter = Jitter::for_precision(DType::F32);
                let model = model_of_ten(likelihood, expected.neighbors, jitter, options);
                let x = tensor(&ten_rows().x, options);
                let y = tensor(&case.targets.iter().map(|&y| vec![y]).collect(), options);
                let bound = scalar(model.objective(x, y, 10).unwrap());
                assert_close(bound, case.bound, 1e-4, &what);
            }
        }
    }
}

/// The moments that a model was given, and the prior's mean and the best deviations before.
#[test]
fn moments_are_those_given() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let likelihood = likelihood("poisson", options);
    let model = model_of_ten(likelihood, 3, Jitter::NONE, options);
    let [mean, deviation] = model.moments().map(values);
    assert_all_close(&mean, &MEANS, 1e-15, name);
    assert_all_close(&deviation, &DEVIATIONS, 1e-15, name);
    // The divergence has no slope in the deviations at first.
    let device = device.autodiff();
    let options = (&device, DType::F64);
    let model = super::model(
        &ten_rows(),
        ZeroMean::new(1),
        Gaussian::new(0.2, options),
        3,
        Jitter::NONE,
        options,
    );
    let model = model.with_prior_moments().unwrap();
    let model = model.with_frozen_hyperparameters();
    assert_eq!(values(model.moments()[0].clone()), [0.0; 10]);
    let slopes = gradients(&model, &model.divergences().unwrap().sum().backward());
    assert_all_close(&slopes, &[0.0; 20], 1e-12, name);
}
