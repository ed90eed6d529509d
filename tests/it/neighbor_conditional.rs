//! Conditional distributions of rows given their neighbors, and their gradients.

use crate::support::{
    Dense, Input, Random, assert_close, check_gradients, numbers, platforms_of_operations,
};
use burn::tensor::Tensor;
use burn_gp_core::ops::{Jitter, NotPositiveDefinite, neighbor_conditional};

/// No neighbors, fewer than a block of the elimination, around blocks, the usual numbers, around the sizes for which
/// GPUs have kernels, and one that only a batched factorization can handle there.
const SIZES: [usize; 11] = [1, 2, 4, 5, 8, 17, 31, 33, 61, 62, 89];

/// One row, a part of a group of lanes, whole groups, and enough for several threads.
const ROWS: [usize; 4] = [1, 5, 32, 83];

/// `b = A⁻¹k` and `d = κ − kᵀb` by dense algebra.
fn reference(matrix: &Dense) -> (Vec<f64>, f64) {
    let last = matrix.rows - 1;
    let covariance = Dense::from_function(last, last, |i, j| matrix[(i, j)]);
    let cross = Dense::from_function(last, 1, |i, _| matrix[(last, i)]);
    let weights = covariance.solve(&cross).values;
    let explained: f64 = weights.iter().zip(&cross.values).map(|(b, k)| b * k).sum();
    (weights, matrix[(last, last)] - explained)
}

/// A matrix whose neighbors from `count` on are padded.
fn padded(matrix: &Dense, count: usize) -> Dense {
    let size = matrix.rows;
    Dense::from_function(size, size, |i, j| {
        let is_padded = |place| (count..size - 1).contains(&place);
        match is_padded(i) || is_padded(j) {
            true if i == j => 1.0,
            true => 0.0,
            false => matrix[(i, j)],
        }
    })
}

#[test]
fn weights_and_variances_are_those_of_dense_algebra() {
    for size in SIZES {
        for rows in ROWS {
            let mut random = Random::new((100 * size + rows) as u64);
            let all: Vec<Dense> = (0..rows)
                .map(|row| padded(&random.positive_definite(size), row % size))
                .collect();
            let (weights, variances): (Vec<_>, Vec<_>) = all.iter().map(reference).unzip();
            for platform in platforms_of_operations() {
                let batch = platform.batch(&all);
                let (b, d) = neighbor_conditional(batch, Jitter::NONE).unwrap();
                assert_eq!((b.dims(), d.dims()), ([rows, size - 1], [rows]));
                // Rounding errors of sums of up to 60 products, times a condition number below 100.
                let tolerance = platform.tolerance(1e-12, 1e-3);
                let what = format!("{platform}, size {size}, {rows} rows");
                if size > 1 {
                    assert_close(&what, &numbers(b), &weights.concat(), tolerance);
                }
                assert_close(&what, &numbers(d), &variances, tolerance);
            }
        }
    }
}

/// A padded neighbor has the weight zero, exactly, and changes no other number.
#[test]
fn padded_neighbors_have_no_weight() {
    let matrix = Random::new(5).positive_definite(9);
    let short = Dense::from_function(4, 4, |i, j| {
        let place = |k| if k == 3 { 8 } else { k };
        matrix[(place(i), place(j))]
    });
    for platform in platforms_of_operations() {
        let of = |matrix: &Dense| {
            let (b, d) =
                neighbor_conditional(platform.batch(std::slice::from_ref(matrix)), Jitter::NONE)
                    .unwrap();
            (numbers(b), numbers(d))
        };
        let ((long, d), (expected, of_short)) = (of(&padded(&matrix, 3)), of(&short));
        assert_eq!(long[3..], [0.0; 5], "{platform}");
        assert_close(
            "weights",
            &long[..3],
            &expected,
            platform.tolerance(1e-14, 1e-6),
        );
        assert_close("variance", &d, &of_short, platform.tolerance(1e-14, 1e-6));
    }
}

/// Of a loss that uses weights and variances, with rows padded to different lengths.
#[test]
fn gradients_are_those_of_central_differences() {
    for size in [2, 6, 9, 34] {
        let mut random = Random::new(43);
        let rows = 18;
        let all: Vec<Dense> = (0..rows).map(|_| random.positive_definite(size)).collect();
        let values: Vec<f64> = all
            .iter()
            .flat_map(|matrix| matrix.values.clone())
            .collect();
        let coefficients = random.normals(rows * size);
        let masks: Vec<Dense> = (0..rows)
            .map(|row| {
                padded(
                    &Dense::from_function(size, size, |_, _| 1.0),
                    size - 1 - row % 2,
                )
            })
            .collect();
        let ones: Vec<Dense> = (0..rows)
            .map(|row| padded(&Dense::identity(size).scaled(0.0), size - 1 - row % 2))
            .collect();
        check_gradients(
            &format!("size {size}"),
            &[Input::from(values)],
            1e-3,
            &|platform, inputs| {
                let matrix = inputs[0].clone().reshape([rows, size, size]);
                let matrix = (matrix.clone() + matrix.transpose()) * 0.5;
                // Zero where a neighbor is padded, and one on its diagonal.
                let cut = masks.iter().zip(&ones).map(|(mask, ones)| mask.minus(ones));
                let cut: Vec<Dense> = cut.collect();
                let matrix = matrix * platform.batch(&cut) + platform.batch(&ones);
                let (b, d) = neighbor_conditional(matrix, Jitter::NONE).unwrap();
                let all = Tensor::cat(vec![b, d.clone().unsqueeze_dim(1)], 1);
                let scale = platform.tensor(&coefficients, [rows, size]);
                (all * scale).sum() + d.log().sum()
            },
        );
    }
}

/// The relative jitter depends on the mean of the diagonal of A, and is not in the variance of the row.
#[test]
fn jitter_is_in_the_gradient() {
    let size = 6;
    let neighbors = Random::new(23).with_eigenvalue(size - 1, -0.05);
    let cross = Random::new(24).normals(size);
    let matrix = Dense::from_function(size, size, |i, j| match (i + 1 < size, j + 1 < size) {
        (true, true) => neighbors[(i, j)],
        (false, false) => 5.0,
        _ => 0.1 * cross[i.min(j)],
    });
    let jitter = Jitter::relative(0.01);
    // The first jitter does not suffice.
    let mean = neighbors.trace() / (size - 1) as f64;
    let with_jitter = Dense::from_function(size, size, |i, j| {
        let added = if i == j && i + 1 < size {
            0.1 * mean
        } else {
            0.0
        };
        matrix[(i, j)] + added
    });
    let (weights, variance) = reference(&with_jitter);
    for platform in platforms_of_operations() {
        let (b, d) =
            neighbor_conditional(platform.batch(std::slice::from_ref(&matrix)), jitter).unwrap();
        let tolerance = platform.tolerance(1e-11, 1e-3);
        assert_close(&platform.to_string(), &numbers(b), &weights, tolerance);
        assert_close(&platform.to_string(), &numbers(d), &[variance], tolerance);
    }
    check_gradients("jitter", &[Input::from(&matrix)], 1e-2, &|_, inputs| {
        let matrix = inputs[0].clone().reshape([1, size, size]);
        let matrix = (matrix.clone() + matrix.transpose()) * 0.5;
        let (b, d) = neighbor_conditional(matrix, jitter).unwrap();
        b.square().sum() + d
    });
}

/// The error names the row; the others have factors.
#[test]
fn neighbors_without_a_factor_are_an_error() {
    for platform in platforms_of_operations() {
        let mut all: Vec<Dense> = (0..20).map(|_| Dense::identity(4)).collect();
        all[17][(1, 1)] = -1.0;
        let outcome = neighbor_conditional(platform.batch(&all), Jitter::NONE);
        let NotPositiveDefinite {
            batch, pivot, size, ..
        } = outcome.unwrap_err();
        assert_eq!((batch, pivot, size), (17, 1, 3), "{platform}");

        all[17][(1, 1)] = f64::NAN;
        let error = neighbor_conditional(platform.batch(&all), Jitter::NONE).unwrap_err();
        assert_eq!(error.batch, 17, "{platform}");
        assert!(error.to_string().contains("NaN"), "{error}");
    }
}

#[test]
fn no_rows_have_no_weights() {
    for platform in platforms_of_operations() {
        let none = Tensor::zeros([0, 3, 3], platform.options());
        let (b, d) = neighbor_conditional(none, Jitter::NONE).unwrap();
        assert_eq!((b.dims(), d.dims()), ([0, 2], [0]), "{platform}");
    }
}

#[test]
#[should_panic(expected = "expected matrices [B, q, q]")]
fn matrices_must_be_square() {
    let platform = &platforms_of_operations()[0];
    let _ = neighbor_conditional(platform.tensor(&[0.0; 6], [1, 2, 3]), Jitter::NONE);
}

/// The covariance of the latent function of the reference values: Matérn-3/2.
fn latent(a: [f64; 2], b: [f64; 2]) -> f64 {
    let square: f64 = ((a[0] - b[0]) / 0.6).powi(2) + ((a[1] - b[1]) / 1.1).powi(2);
    let r = (3.0 * square).sqrt();
    1.7 * (1.0 + r) * (-r).exp()
}

/// The independent and joint predictions of an independent implementation with three neighbors each. Observed
/// neighbors have noise 0.05 and the mean is 0.4.
#[test]
fn predictions_have_the_reference_values() {
    let observed = [
        ([0.497, 0.542], 0.62),
        ([0.337, 0.324], 0.29),
        ([0.289, 0.613], 0.05),
        ([0.911, 0.793], 1.12),
        ([0.947, 0.438], 1.30),
        ([0.623, 0.887], 0.77),
    ];
    let new = [[0.45, 0.42], [0.48, 0.47], [1.6, 1.4], [1.5, 1.55]];
    // Observed rows by their place in the list, new rows after them.
    let independent = [[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5]];
    let joint = [[0, 1, 2], [6, 0, 1], [3, 4, 5], [8, 3, 4]];
    let at = |row: usize| observed.get(row).map_or_else(|| new[row - 6], |(x, _)| *x);
    let matrix = |own: usize, given: [usize; 3]| {
        let all = [given[0], given[1], given[2], own];
        Dense::from_function(4, 4, |i, j| {
            let noise = if i == j && all[i] < 6 { 0.05 } else { 0.0 };
            latent(at(all[i]), at(all[j])) + noise
        })
    };
    let expected_independent = [
        [0.493_877_043_045_154, 0.050_605_948_000_769],
        [0.546_901_381_799_59, 0.046_100_270_213_975],
        [0.672_514_388_873_807, 1.478_400_748_545_619],
        [0.674_083_089_650_838, 1.439_549_446_347_299],
    ];
    let expected_joint = [
        0.493_877_043_045_154,
        0.547_383_869_539_511,
        0.672_514_388_873_807,
        0.674_835_913_044_614,
    ];
    for platform in platforms_of_operations() {
        let tolerance = platform.tolerance(1e-12, 1e-4);
        let conditionals = |given: [[usize; 3]; 4]| {
            let all: Vec<Dense> = (0..4).map(|row| matrix(6 + row, given[row])).collect();
            let (b, d) = neighbor_conditional(platform.batch(&all), Jitter::NONE).unwrap();
            (numbers(b), numbers(d))
        };
        let (b, d) = conditionals(independent);
        for row in 0..4 {
            let terms = independent[row].iter().zip(&b[3 * row..]);
            let mean: f64 = terms.map(|(&place, b)| b * (observed[place].1 - 0.4)).sum();
            let ours = [0.4 + mean, d[row]];
            assert_close(
                &platform.to_string(),
                &ours,
                &expected_independent[row],
                tolerance,
            );
        }
        let (b, d) = conditionals(joint);
        let mut known: Vec<f64> = observed.iter().map(|(_, y)| y - 0.4).collect();
        for row in 0..4 {
            let terms = joint[row].iter().zip(&b[3 * row..]);
            known.push(terms.map(|(&place, b)| b * known[place]).sum());
        }
        let means: Vec<f64> = known[6..].iter().map(|mean| mean + 0.4).collect();
        assert_close(&platform.to_string(), &means, &expected_joint, tolerance);
        // The covariance U·diag(d)·Uᵀ of two rows, of which the second has the weight b on the first.
        let covariance = [d[0], b[3] * d[0], d[1] + b[3].powi(2) * d[0]];
        let expected = [
            0.050_605_948_000_769,
            0.044_335_323_683_151,
            0.046_085_662_987_597,
        ];
        assert_close(&platform.to_string(), &covariance, &expected, tolerance);
    }
}
