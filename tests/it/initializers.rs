//! Initialization of inducing points.

use crate::reference::{
    Matrix, Problem, Random, combine, double_precision, product, rows, single_precision, solve,
    tensor, transpose,
};
use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inducing::{Initializer, SelectionError, greedy_variance, k_means, subset},
    kernels::{
        KernelConfig, KernelModule, LinearConfig, StationaryConfig, StationaryKernel, WhiteConfig,
    },
    ops::Stationary,
};

const ALL: [Initializer; 3] = [
    Initializer::Subset,
    Initializer::KMeans,
    Initializer::GreedyVariance,
];

fn kernel(options: (&Device, DType)) -> StationaryKernel {
    StationaryKernel::new(Stationary::Matern32, &[0.7, 1.1], 1.5, options)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
    squares.sqrt()
}

/// The sum of squared distances to the nearest center.
fn inertia(points: &Matrix, centers: &Matrix) -> f64 {
    (points.iter())
        .map(|point| {
            let nearest = centers.iter().map(|center| distance(point, center));
            nearest.fold(f64::INFINITY, f64::min).powi(2)
        })
        .sum()
}

#[test]
fn points_are_as_many_as_asked_distinct_and_fixed_by_the_seed() {
    for (dtype, devices) in [
        (DType::F64, double_precision()),
        (DType::F32, single_precision()),
    ] {
        for (name, device) in devices {
            let options = (&device, dtype);
            let data = Random(1).uniform_rows(300, 2, -2.0, 2.0);
            let inputs = tensor(&data, options);
            let kernel = kernel(options);
            for initializer in ALL {
                let select = |count, seed| {
                    let points = initializer.select(&kernel, inputs.clone(), count, seed);
                    let points = points.unwrap();
                    assert_eq!((points.dtype(), points.dims()), (dtype, [count, 2]));
                    rows(points)
                };
                for count in [1, 17, 300] {
                    let points = select(count, 9);
                    for (i, point) in points.iter().enumerate() {
                        for other in &points[..i] {
                            assert!(point != other, "{name} {initializer:?}: {point:?} twice");
                        }
                    }
                    assert_eq!(points, select(count, 9), "{name} {initializer:?}");
                }
                let (one, other) = (select(17, 9), select(17, 10));
                assert_ne!(one, other, "{name} {initializer:?}: the seed has no effect");
            }
        }
    }
}

#[test]
fn subset_and_greedy_variance_choose_inputs() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let data = Random(1).uniform_rows(100, 2, -2.0, 2.0);
        let inputs = tensor(&data, options);
        let chosen = [
            subset(inputs.clone(), 100, 3).unwrap(),
            greedy_variance(&kernel(options), inputs, 100, 3).unwrap(),
        ];
        for points in chosen {
            let mut points = rows(points);
            let mut all = data.clone();
            for rows in [&mut points, &mut all] {
                rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
            }
            assert_eq!(points, all, "{name}");
        }
    }
}

/// Every chosen point has the largest conditional variance given the points before it, by dense
/// algebra. Rounding decides between variances that agree to 1e-9.
#[test]
fn greedy_variance_takes_the_largest_conditional_variance() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let mut problem = Problem::plane(Stationary::Matern32);
        problem.x = Random(4).uniform_rows(1500, 2, -2.0, 2.0);
        let inputs = tensor(&problem.x, options);
        let kernel = StationaryKernel::new(
            problem.kind,
            &problem.lengthscales,
            problem.variance,
            options,
        );
        let chosen = rows(greedy_variance(&kernel, inputs, 70, 2).unwrap());
        for count in 1..chosen.len() {
            let given = chosen[..count].to_vec();
            let candidates: Matrix = [&problem.x[..], &chosen[count..=count]].concat();
            let cross = problem.covariance(&given, &candidates);
            let weights = solve(&problem.covariance(&given, &given), &cross);
            let variances: Vec<f64> = (0..candidates.len())
                .map(|n| {
                    let explained: f64 = (0..count).map(|m| cross[m][n] * weights[m][n]).sum();
                    problem.variance - explained
                })
                .collect();
            let (ours, all) = variances.split_last().unwrap();
            let largest = all.iter().copied().fold(0.0, f64::max);
            assert!(*ours >= largest - 1e-9, "{name} {count}: {ours} {largest}");
        }
    }
}

#[test]
fn greedy_variance_is_incremental() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let inputs = tensor(&Random(1).uniform_rows(300, 2, -2.0, 2.0), options);
        // The variance of a smooth kernel on a small domain is used up early. Other points then
        // fill the set.
        let smooth = StationaryKernel::new(Stationary::SquaredExponential, &[9.0], 1.0, options);
        for kernel in [kernel(options), smooth] {
            let thirty = rows(greedy_variance(&kernel, inputs.clone(), 30, 5).unwrap());
            let twenty = rows(greedy_variance(&kernel, inputs.clone(), 20, 5).unwrap());
            assert_eq!(thirty[..20], twenty, "{name}");
            let all = rows(greedy_variance(&kernel, inputs.clone(), 300, 5).unwrap());
            assert_eq!(all[..30], thirty, "{name}");
        }
    }
}

/// The method works with any kernel, including one with white noise.
#[test]
fn greedy_variance_with_composite_kernels() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let data = Random(1).uniform_rows(200, 2, -2.0, 2.0);
        let kernel = KernelConfig::from(StationaryConfig::new(Stationary::Matern52))
            .plus(KernelConfig::from(WhiteConfig { variance: 0.3 }))
            .plus(KernelConfig::from(LinearConfig {
                ard: true,
                variance: 0.5,
                ..LinearConfig::default()
            }))
            .init(2, options);
        let points = rows(greedy_variance(&kernel, tensor(&data, options), 200, 5).unwrap());
        for (i, point) in points.iter().enumerate() {
            assert!(!points[..i].contains(point), "{name}: {point:?} twice");
        }
        // The linear part gives the corners the largest prior variance.
        let diagonal = kernel.diagonal_at(tensor(&data, options));
        let largest = diagonal.max().into_data().iter::<f64>().next();
        let first = kernel.diagonal_at(tensor(&points[..1].to_vec(), options));
        assert_eq!(first.into_data().iter::<f64>().next(), largest, "{name}");
    }
}

/// The greedy choice leaves less unexplained variance `tr(K − Q)` than a random choice.
#[test]
fn greedy_variance_leaves_less_variance_than_a_subset() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let mut problem = Problem::plane(Stationary::Matern32);
    problem.x = Random(4).uniform_rows(200, 2, -2.0, 2.0);
    let inputs = tensor(&problem.x, options);
    let kernel = StationaryKernel::new(
        problem.kind,
        &problem.lengthscales,
        problem.variance,
        options,
    );
    let mut left = |points: Tensor<2>| {
        problem.z = rows(points);
        let kuf = problem.covariance(&problem.z, &problem.x);
        let nystrom = product(&transpose(&kuf), &solve(&problem.kuu(1e-10), &kuf));
        crate::reference::trace(&combine(
            &problem.covariance(&problem.x, &problem.x),
            &nystrom,
            -1.0,
        ))
    };
    let greedy = left(greedy_variance(&kernel, inputs.clone(), 20, 1).unwrap());
    let random = left(subset(inputs, 20, 1).unwrap());
    assert!(greedy < random, "{name}: {greedy} {random}");
}

/// Well-separated clusters are found: every center is the mean of one cluster.
#[test]
fn k_means_finds_clusters() {
    for (dtype, devices) in [
        (DType::F64, double_precision()),
        (DType::F32, single_precision()),
    ] {
        for (name, device) in devices {
            let mut random = Random(6);
            let means = [
                [0.0, 0.0],
                [20.0, 0.0],
                [0.0, 20.0],
                [20.0, 20.0],
                [50.0, 3.0],
            ];
            let data: Matrix = (0..1000)
                .map(|n| {
                    let mean = means[n % means.len()];
                    vec![mean[0] + random.normal(), mean[1] + random.normal()]
                })
                .collect();
            let centers = rows(k_means(tensor(&data, (&device, dtype)), 5, 0).unwrap());
            for (index, mean) in means.iter().enumerate() {
                let own: Matrix = data.iter().skip(index).step_by(5).cloned().collect();
                let average: Vec<f64> = (0..2)
                    .map(|d| own.iter().map(|row| row[d]).sum::<f64>() / own.len() as f64)
                    .collect();
                let nearest = (centers.iter().map(|center| distance(center, &average)))
                    .fold(f64::INFINITY, f64::min);
                assert!(nearest < 1e-5, "{name} {mean:?}: {nearest}");
            }
        }
    }
}

#[test]
fn k_means_lies_closer_to_the_inputs_than_a_subset() {
    let (name, device) = double_precision().remove(0);
    let data = Random(8).uniform_rows(3000, 3, -1.0, 1.0);
    let inputs = tensor(&data, (&device, DType::F64));
    for count in [7, 64, 100] {
        let centers = rows(k_means(inputs.clone(), count, 3).unwrap());
        let random = rows(subset(inputs.clone(), count, 3).unwrap());
        let (ours, theirs) = (inertia(&data, &centers), inertia(&data, &random));
        assert!(ours < 0.8 * theirs, "{name} {count}: {ours} {theirs}");
    }
}

/// 400 inputs with 12 distinct values: 12 points can be chosen, but not 13.
#[test]
fn duplicate_inputs() {
    for (name, device) in double_precision() {
        let options = (&device, DType::F64);
        let places = Random(2).uniform_rows(12, 2, -2.0, 2.0);
        let data: Matrix = (0..400).map(|n| places[n * n % 12].clone()).collect();
        let data = [data, places.clone()].concat();
        let kernel = kernel(options);
        for initializer in ALL {
            let inputs = tensor(&data, options);
            let mut points = rows(initializer.select(&kernel, inputs.clone(), 12, 0).unwrap());
            let mut expected = places.clone();
            for rows in [&mut points, &mut expected] {
                rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
            }
            for (point, expected) in points.iter().zip(&expected) {
                let off = distance(point, expected);
                assert!(off < 1e-12, "{name} {initializer:?}: off by {off}");
            }
            let error = initializer.select(&kernel, inputs, 13, 0).unwrap_err();
            let expected = SelectionError::TooFewDistinct {
                requested: 13,
                distinct: 12,
            };
            assert_eq!(error, expected, "{name} {initializer:?}");
        }
    }
}

/// Inputs count as different even if their squared distance underflows to zero.
#[test]
fn inputs_closer_than_their_squares_can_tell() {
    let (name, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let data: Matrix = (0..8).map(|n| vec![1e-200 * f64::from(n), 0.5]).collect();
    let kernel = kernel(options);
    for initializer in ALL {
        let points = initializer.select(&kernel, tensor(&data, options), 5, 0);
        let mut points = rows(points.unwrap());
        points.sort_by(|a, b| a[0].total_cmp(&b[0]));
        points.dedup();
        assert_eq!(points.len(), 5, "{name} {initializer:?}");
    }
}

#[test]
fn impossible_requests_are_errors() {
    let (_, device) = double_precision().remove(0);
    let options = (&device, DType::F64);
    let inputs = tensor(&Random(2).uniform_rows(5, 2, 0.0, 1.0), options);
    let broken = tensor(&vec![vec![1.0, 2.0], vec![0.0, f64::NAN]], options);
    let kernel = kernel(options);
    for initializer in ALL {
        let message = |inputs: &Tensor<2>, count| {
            let error = initializer.select(&kernel, inputs.clone(), count, 0);
            error.unwrap_err().to_string()
        };
        assert_eq!(
            message(&inputs, 0),
            "a sparse Gaussian process needs at least one inducing point, not 0"
        );
        assert_eq!(
            message(&inputs, 6),
            "6 inducing points cannot be chosen from 5 inputs; ask for at most 5"
        );
        assert_eq!(
            message(&broken, 1),
            "input NaN in row 1, column 1 is not a finite number"
        );
    }
}

#[test]
fn names_in_configurations() {
    let json = serde_json::to_string(&ALL).unwrap();
    assert_eq!(json, r#"["subset","k-means","greedy-variance"]"#);
    assert_eq!(
        serde_json::from_str::<[Initializer; 3]>(&json).unwrap(),
        ALL
    );
}
