//! Tables whose covariance is a Kronecker product plus noise, compared with dense algebra and with values in fifty
//! digits.

use burn::tensor::Tensor;
use burn_gp_core::ops::{
    KroneckerSolution, NotPositiveDefinite, Stationary, covariance, kronecker_log_density,
    kronecker_solution,
};

use crate::support::{
    Dense, Input, Platform, Random, assert_close, check_gradients, numbers, platforms, symmetric,
};

/// N, P and the number of holes: one cell, one row, one column, more outputs than rows, and several threads.
const SIZES: [(usize, usize, usize); 7] = [
    (1, 1, 0),
    (1, 3, 1),
    (7, 1, 2),
    (3, 5, 0),
    (6, 3, 5),
    (40, 5, 17),
    (170, 3, 20),
];

/// The covariances of a table and its known cells.
struct Case {
    covariance: Dense,
    outputs: Dense,
    noise: Vec<f64>,
    known: Vec<f64>,
    holes: Vec<usize>,
}

impl Case {
    fn new((rows, outputs, holes): (usize, usize, usize)) -> Self {
        let mut random = Random::new((100 * rows + outputs) as u64);
        let cells = rows * outputs;
        // Every third cell or so, from the second.
        let mut places: Vec<usize> = (0..holes).map(|hole| (1 + 3 * hole) % cells).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), holes);
        Self {
            covariance: random.positive_definite(rows),
            outputs: random.positive_definite(outputs),
            noise: random.uniforms(outputs, 0.2, 1.0),
            known: random.normals(cells - holes),
            holes: places,
        }
    }

    fn known_places(&self) -> Vec<usize> {
        let cells = self.covariance.rows * self.outputs.rows;
        (0..cells)
            .filter(|place| !self.holes.contains(place))
            .collect()
    }

    /// `K_oo`
    fn dense(&self) -> Dense {
        let (places, outputs) = (self.known_places(), self.outputs.rows);
        Dense::from_function(places.len(), places.len(), |i, j| {
            let [[n, p], [m, r]] =
                [places[i], places[j]].map(|place| [place / outputs, place % outputs]);
            let noise = if i == j { self.noise[p] } else { 0.0 };
            self.covariance.row(n)[m] * self.outputs.row(p)[r] + noise
        })
    }

    /// `log N(r | 0, K_oo)`
    fn log_density(&self) -> f64 {
        let (covariance, count) = (self.dense(), self.known.len());
        let residual = Dense::new(count, 1, self.known.clone());
        let fit: f64 = (covariance.solve(&residual).values.iter().zip(&self.known))
            .map(|(weight, value)| weight * value)
            .sum();
        let constant = count as f64 * (2.0 * std::f64::consts::PI).ln();
        -0.5 * (fit + covariance.log_determinant() + constant)
    }

    fn tensors(&self, platform: &Platform) -> (Tensor<2>, Tensor<2>, Tensor<1>, Tensor<2>) {
        (
            platform.matrix(&self.covariance),
            platform.matrix(&self.outputs),
            platform.tensor(&self.noise, [self.noise.len()]),
            platform.tensor(&self.known, [self.known.len(), 1]),
        )
    }
}

#[test]
fn log_density_is_that_of_dense_algebra() {
    for size in SIZES {
        let case = Case::new(size);
        let expected = case.log_density();
        for platform in platforms() {
            let (k, g, s, r) = case.tensors(&platform);
            let own = kronecker_log_density(k, g, s, r, &case.holes).expect("finite covariances");
            // Only the covariances and the result are rounded.
            let tolerance = platform.tolerance(1e-12, 1e-5);
            let what = format!("{platform}, {size:?}");
            assert_close(&what, &numbers(own), &[expected], tolerance);
        }
    }
}

#[test]
fn gradients_are_those_of_central_differences() {
    for size in SIZES {
        let (case, (rows, outputs, _)) = (Case::new(size), size);
        let inputs = [
            Input::from(&case.covariance),
            Input::from(&case.outputs),
            Input::from(case.noise.clone()),
            Input::from(case.known.clone()),
        ];
        check_gradients(&format!("{size:?}"), &inputs, 1e-3, &|_, inputs| {
            let covariance = symmetric(&inputs[0], rows);
            let coupling = symmetric(&inputs[1], outputs);
            let residual = inputs[3].clone().unsqueeze_dim::<2>(1);
            let density = kronecker_log_density(
                covariance,
                coupling.clone(),
                inputs[2].clone(),
                residual,
                &case.holes,
            );
            // Γ is used a second time, too.
            density.expect("finite covariances") * 0.3 + coupling.square().sum()
        });
    }
}

/// All eigenvalues of both matrices are equal, up to rounding: a derivative of eigenvectors would divide by zero. For
/// `K_x = I` and `Γ = I`, the cells are independent with variances `v_p = 1 + σ²_p`, so that the derivatives are
/// `∂K_ij = ½(Σ_p (r_ip·r_jp/v_p² − [i = j]/v_p))`, and the same with the roles exchanged.
#[test]
fn equal_eigenvalues_have_finite_derivatives() {
    let (rows, outputs) = (3, 2);
    let noise: [f64; 2] = [0.5, 2.0];
    let known: [f64; 6] = [0.3, -0.8, 1.2, 0.1, -0.4, 0.9];
    let at = |i: usize, p: usize| known[i * outputs + p];
    let variance = |p: usize| 1.0 + noise[p];
    let same = |a: usize, b: usize| f64::from(u8::from(a == b));
    let of_rows = Dense::from_function(rows, rows, |i, j| {
        let of_output =
            |p: usize| at(i, p) * at(j, p) / variance(p).powi(2) - same(i, j) / variance(p);
        0.5 * (0..outputs).map(of_output).sum::<f64>()
    });
    let of_outputs = Dense::from_function(outputs, outputs, |p, r| {
        let of_row =
            |i: usize| at(i, p) * at(i, r) / (variance(p) * variance(r)) - same(p, r) / variance(p);
        0.5 * (0..rows).map(of_row).sum::<f64>()
    });
    for platform in platforms() {
        let platform = platform.autodiff();
        let identity = |size| platform.matrix(&Dense::identity(size)).require_grad();
        let (covariance, coupling) = (identity(rows), identity(outputs));
        let noise = platform.tensor(&noise, [outputs]).require_grad();
        let residual = platform.tensor(&known, [known.len(), 1]);
        let density = kronecker_log_density(
            covariance.clone(),
            coupling.clone(),
            noise.clone(),
            residual,
            &[],
        );
        let gradients = density.expect("finite covariances").backward();
        let of = |tensor: Tensor<2>| numbers(tensor.grad(&gradients).expect("a gradient"));
        let tolerance = platform.tolerance(1e-13, 1e-6);
        assert_close("K_x", &of(covariance), &of_rows.values, tolerance);
        assert_close("Γ", &of(coupling), &of_outputs.values, tolerance);
        // The noise adds to the diagonal of Γ ⊗ I.
        let noise = numbers(noise.grad(&gradients).expect("a gradient"));
        assert_close("σ²", &noise, &of_outputs.diagonal(), tolerance);
    }
}

const X: [f64; 5] = [0.1, 0.4, 0.7, 1.1, 1.6];

/// The parameters of the reference: the lengthscale, W, κ and σ².
struct Parameters {
    lengthscale: Tensor<1>,
    weights: Tensor<2>,
    own: Tensor<1>,
    noise: Tensor<1>,
}

impl Parameters {
    fn new(platform: &Platform) -> Self {
        Self {
            lengthscale: platform.tensor(&[0.8], [1]),
            weights: platform.tensor(&[0.9, -0.5], [2, 1]),
            own: platform.tensor(&[0.2, 0.3], [2]),
            noise: platform.tensor(&[0.05, 0.1], [2]),
        }
    }

    fn tracked(self) -> Self {
        Self {
            lengthscale: self.lengthscale.require_grad(),
            weights: self.weights.require_grad(),
            own: self.own.require_grad(),
            noise: self.noise.require_grad(),
        }
    }

    /// Γ
    fn outputs(&self, platform: &Platform) -> Tensor<2> {
        let identity = platform.matrix(&Dense::identity(2));
        let weights = self.weights.clone();
        weights.clone().matmul(weights.transpose()) + identity * self.own.clone().unsqueeze::<2>()
    }

    fn between(&self, platform: &Platform, [first, second]: [&[f64]; 2]) -> Tensor<2> {
        let points = |x: &[f64]| platform.tensor(x, [x.len(), 1]);
        let variance = platform.tensor(&[1.0], [1]);
        let lengthscale = self.lengthscale.clone();
        covariance(
            Stationary::Matern52,
            points(first),
            points(second),
            lengthscale,
            variance,
        )
    }
}

/// Known cells, holes, the log density, its derivatives (ℓ, W, κ, σ²), and the mean and the covariance at 0.9.
struct Golden {
    known: &'static [f64],
    holes: &'static [usize],
    log_density: f64,
    gradient: [f64; 7],
    mean: [f64; 2],
    covariance: [f64; 4],
}

const GOLDEN: [Golden; 2] = [
    Golden {
        known: &[0.5, -0.3, 0.9, -0.5, 0.7, -0.8, 0.2, -0.1, -0.6, 0.7],
        holes: &[],
        log_density: -5.750625699942673,
        gradient: [
            1.721757747955291,
            -2.0327977270164035,
            -0.940906545394572,
            -2.1370244543194876,
            -2.324016777971042,
            -11.672904731291952,
            -7.912181398842132,
        ],
        mean: [0.5083751595265651, -0.39317108522267197],
        covariance: [
            0.035565816630983266,
            -0.0071491485443268875,
            -0.0071491485443268875,
            0.04777774801716536,
        ],
    },
    Golden {
        known: &[0.5, -0.3, 0.9, -0.8, 0.2, -0.6, 0.7],
        holes: &[3, 4, 7],
        log_density: -5.636858790605296,
        gradient: [
            0.15285270135975426,
            -1.7013938272269071,
            -1.2931795629448348,
            -1.8676851003635224,
            -1.6956112732245452,
            -6.294762252547054,
            -1.1448790005660412,
        ],
        mean: [0.5575003085412481, -0.42639537291097207],
        covariance: [
            0.06595913094337101,
            -0.012300858338780843,
            -0.012300858338780843,
            0.08604815747182422,
        ],
    },
];

#[test]
fn evidence_and_gradients_are_the_reference_values() {
    for (golden, platform) in GOLDEN
        .iter()
        .flat_map(|g| platforms().into_iter().map(move |p| (g, p)))
    {
        let what = format!("{platform}, {} holes", golden.holes.len());
        let platform = platform.autodiff();
        let parameters = Parameters::new(&platform).tracked();
        let density = kronecker_log_density(
            parameters.between(&platform, [&X, &X]),
            parameters.outputs(&platform),
            parameters.noise.clone(),
            platform.tensor(golden.known, [golden.known.len(), 1]),
            golden.holes,
        );
        let density = density.expect("finite covariances");
        let tolerance = platform.tolerance(1e-12, 2e-6);
        assert_close(
            &what,
            &numbers(density.clone()),
            &[golden.log_density],
            tolerance,
        );
        let gradients = density.backward();
        let of = |tensor: &Tensor<1>| numbers(tensor.grad(&gradients).expect("a gradient"));
        let of_weights = parameters.weights.grad(&gradients).expect("a gradient");
        let found = [
            of(&parameters.lengthscale),
            numbers(of_weights),
            of(&parameters.own),
            of(&parameters.noise),
        ];
        let tolerance = platform.tolerance(1e-11, 1e-4);
        assert_close(&what, &found.concat(), &golden.gradient, tolerance);
    }
}

#[test]
fn solutions_give_the_reference_predictions() {
    for (golden, platform) in GOLDEN
        .iter()
        .flat_map(|g| platforms().into_iter().map(move |p| (g, p)))
    {
        let parameters = Parameters::new(&platform);
        let outputs = parameters.outputs(&platform);
        let KroneckerSolution {
            vectors,
            removed,
            mixing,
            weights,
            returned,
        } = kronecker_solution(
            parameters.between(&platform, [&X, &X]),
            outputs.clone(),
            parameters.noise.clone(),
            platform.tensor(golden.known, [golden.known.len(), 1]),
            golden.holes,
        )
        .expect("finite covariances");
        let cross = parameters.between(&platform, [&[0.9], &X]); // [1, N]
        let what = format!("{platform}, {} holes", golden.holes.len());
        let tolerance = platform.tolerance(1e-12, 5e-6);
        let mean = numbers(cross.clone().matmul(weights));
        assert_close(&what, &mean, &golden.mean, tolerance);
        let squares = cross.clone().matmul(vectors).square(); // t∘t
        let of_latent = squares.matmul(removed); // [1, P]
        let prior = outputs - (mixing.clone() * of_latent).matmul(mixing.transpose());
        let latent = match returned {
            Some(returned) => {
                let values = cross.matmul(returned).reshape([golden.holes.len(), 2]);
                prior + values.clone().transpose().matmul(values)
            }
            None => prior,
        };
        assert_close(&what, &numbers(latent), &golden.covariance, tolerance);
    }
}

/// Two rows at the same input: K_x is singular, and rounding may make its eigenvalues negative.
#[test]
fn a_singular_covariance_of_inputs_needs_no_jitter() {
    let mut case = Case::new((6, 3, 5));
    let points = [0.1, 0.1, 0.4, 0.4, 0.4, 2.0];
    let kernel = |a: f64, b: f64| (-0.5 * (a - b).powi(2)).exp();
    case.covariance = Dense::from_function(6, 6, |i, j| kernel(points[i], points[j]));
    let expected = case.log_density();
    for platform in platforms() {
        let (k, g, s, r) = case.tensors(&platform);
        let own = kronecker_log_density(k, g, s, r, &case.holes).expect("finite covariances");
        let tolerance = platform.tolerance(1e-12, 1e-5);
        assert_close(&platform.to_string(), &numbers(own), &[expected], tolerance);
    }
}

#[test]
fn covariances_that_are_not_finite_are_refused() {
    for platform in platforms() {
        let case = Case::new((6, 3, 5));
        let broken = |k: f64, g: f64, s: f64| {
            let (covariance, outputs, noise, residual) = case.tensors(&platform);
            let covariance = covariance * k;
            kronecker_log_density(covariance, outputs * g, noise * s, residual, &case.holes)
        };
        assert!(broken(1.0, 1.0, 1.0).is_ok());
        for (k, g, s) in [
            (f64::NAN, 1.0, 1.0),
            (1.0, f64::INFINITY, 1.0),
            (1.0, 1.0, f64::NAN),
            (1.0, 1.0, 0.0),
        ] {
            let NotPositiveDefinite { size, .. } = broken(k, g, s).unwrap_err();
            assert_eq!(size, 18, "{platform}");
        }
    }
}

#[test]
#[should_panic(expected = "NP − n ascending places")]
fn holes_must_fit() {
    let platform = &platforms()[0];
    let (k, g, s, r) = Case::new((6, 3, 5)).tensors(platform);
    let _ = kronecker_log_density(k, g, s, r, &[1, 4]);
}
