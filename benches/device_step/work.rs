//! The floating-point operations and the memory traffic of a training step, counted from the shapes
//! of its operations.
//!
//! Only operations that no algorithm avoids are counted: n³/3 for a factorization, n²m for a triangular solve
//! or product, twice that for a full product. The backward pass of each takes twice as many again. An
//! operation reads its arguments once and writes its result once; the backward pass reads both and the
//! cotangent and writes as many gradients. A value takes four bytes.

use std::ops::{Add, Mul};

use burn_gp_device_checks::device_step::StepSizes;

/// Floating-point operations (a multiply-add is two) and bytes from and to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    pub operations: f64,
    pub bytes: f64,
}

impl Add for Work {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            operations: self.operations + other.operations,
            bytes: self.bytes + other.bytes,
        }
    }
}

impl Mul<usize> for Work {
    type Output = Self;

    fn mul(self, times: usize) -> Self {
        Self {
            operations: self.operations * times as f64,
            bytes: self.bytes * times as f64,
        }
    }
}

/// An operation with its backward pass, given the operations of the forward pass and the number of values
/// that it reads and writes.
fn both_ways(operations: f64, numbers: f64) -> Work {
    Work {
        operations: 3.0 * operations,
        bytes: 3.0 * 4.0 * numbers,
    }
}

/// A Cholesky factorization, [M, M].
pub fn factor(m: usize) -> Work {
    let m = m as f64;
    both_ways(m.powi(3) / 3.0, 2.0 * m * m)
}

/// A triangular solve or product, [M, M] with [M, N].
fn triangular(m: usize, n: usize) -> Work {
    let (m, n) = (m as f64, n as f64);
    both_ways(m * m * n, 0.5 * m * m + 2.0 * m * n)
}

/// A product, [M, K] with [K, N].
fn product(m: usize, k: usize, n: usize) -> Work {
    let (m, k, n) = (m as f64, k as f64, n as f64);
    both_ways(2.0 * m * k * n, m * k + k * n + m * n)
}

/// A stationary covariance of [N1, D] and [N2, D], with ten operations for the profile.
fn covariance(n1: usize, n2: usize, d: usize) -> Work {
    let (n1, n2, d) = (n1 as f64, n2 as f64, d as f64);
    both_ways((3.0 * d + 10.0) * n1 * n2, (n1 + n2) * d + n1 * n2)
}

/// A stationary covariance that is multiplied by a vector and never stored.
fn covariance_product(n1: usize, n2: usize, d: usize) -> Work {
    let stored = covariance(n1, n2, d);
    let (n1, n2, d) = (n1 as f64, n2 as f64, d as f64);
    both_ways(
        stored.operations / 3.0 + 2.0 * n1 * n2,
        (n1 + n2) * (d + 1.0),
    )
}

/// Passes over values with a few operations per value.
fn passes(count: usize, operations: f64) -> Work {
    both_ways(operations * count as f64, count as f64)
}

/// Adam: θ, its gradient and two moments are read, θ and the moments written.
fn adam(parameters: usize) -> Work {
    let parameters = parameters as f64;
    Work {
        operations: 12.0 * parameters,
        bytes: 4.0 * 7.0 * parameters,
    }
}

/// `K_uu`, its factor, and `L⁻¹K_uf`.
fn projection(m: usize, n: usize, d: usize) -> Work {
    covariance(m, m, d) + factor(m) + covariance(m, n, d) + triangular(m, n)
}

/// The moments of P functions from `L⁻¹K_uf`, [M, N], and their divergence.
fn moments(m: usize, n: usize, functions: usize) -> Work {
    let squares = passes(m * n, 2.0);
    let each = triangular(m, n) + passes(m * n, 4.0) + passes(m * m, 2.0);
    squares + each * functions
}

/// A whitened layer.
fn layer(m: usize, n: usize, d: usize, functions: usize) -> Work {
    projection(m, n, d) + moments(m, n, functions)
}

/// The expected log density of a Gaussian, and the values of the marginals on the way.
fn likelihood(n: usize) -> Work {
    passes(n, 8.0)
}

/// Two hidden layers of a network.
fn network(sizes: &StepSizes, outputs: usize) -> Work {
    let StepSizes { batch, units, .. } = *sizes;
    product(batch, sizes.dimensions, units)
        + product(batch, units, units)
        + product(batch, units, outputs)
        + passes(2 * batch * units, 4.0)
}

/// A step of a model of [`step_models`](burn_gp_device_checks::device_step::step_models). `None` if the model has no
/// formula here.
pub fn of_step(name: &str, sizes: &StepSizes, parameters: usize) -> Option<Work> {
    let (m, n, d) = (sizes.inducing, sizes.batch, sizes.dimensions);
    let work = match name {
        "svgp" => layer(m, n, d, 1) + likelihood(n),
        // The mean and the factor of q(u) are whitened by triangular solves.
        "unwhitened" => layer(m, n, d, 1) + factor(m) + triangular(m, 1) + likelihood(n),
        "solve" => {
            let second = covariance(m, m, d)
                + covariance(m, m, d)
                + triangular(m, m)
                + triangular(m, m)
                + factor(m)
                + covariance(m, n, d)
                + product(m, m, n)
                + triangular(m, n);
            layer(m, n, d, 1) + second + moments(m, n, 1) + likelihood(n)
        }
        "odvgp" => {
            let expansion = covariance_product(n, m, d) + covariance_product(m, m, d) * 2;
            layer(m, n, d, 1) + expansion + triangular(m, 1) + likelihood(n)
        }
        // The diagonal of the inverse is a solve of the identity; the mean is an expansion.
        "l-svgp" => {
            let divergence = both_ways((m as f64).powi(3) / 3.0, (m * m) as f64);
            projection(m, n, d) + divergence + covariance_product(n, m, d) + likelihood(n)
        }
        "inverse-free" => inverse_free(m, n, d) + likelihood(n),
        "deep" => deep(sizes) + likelihood(n),
        "conv" => convolutional(sizes, sizes.side) + softmax(sizes),
        "deep-conv" => {
            let map = sizes.side - sizes.patch + 1;
            let patches = map * map * sizes.images;
            let first = layer(sizes.patches, patches, sizes.patch * sizes.patch, 1);
            first + convolutional(sizes, map) + softmax(sizes)
        }
        "svdbk" => {
            let rank = sizes.rank;
            network(sizes, rank) + moments(rank, n, 1) + likelihood(n)
        }
        "svdkl" => {
            let features = 2;
            network(sizes, features) + layer(m, n, features, 1) + likelihood(n)
        }
        _ => return None,
    };
    Some(work + adam(parameters))
}

/// `k_fuᵀP_R·k_fu` with `P_R = 2T − TK̃T`, `T = LLᵀ`: two triangular products and a full one, for the rows
/// and for the trace. The update of T takes a congruence of 5/3·M³ and a triangular step.
fn inverse_free(m: usize, n: usize, d: usize) -> Work {
    let relaxed = |n| triangular(m, n) * 2 + product(m, m, n);
    let size = m as f64;
    let update = Work {
        operations: (5.0 / 3.0 + 1.0) * size.powi(3),
        bytes: 4.0 * 5.0 * size * size,
    };
    covariance(m, m, d) + covariance(m, n, d) + relaxed(n) + relaxed(m) + update
}

fn deep(sizes: &StepSizes) -> Work {
    let (m, n) = (sizes.inducing, sizes.batch);
    let first = layer(m, n, sizes.dimensions, sizes.width);
    let between = layer(m, n, sizes.width, sizes.width);
    let hidden = first + between * (sizes.hidden - 1);
    hidden + layer(m, n, sizes.width, 1)
}

/// A convolutional layer on square images of one channel: the covariances of inducing patches with
/// all patches, and of all patches of an image with each other, none of which is stored.
fn convolutional(sizes: &StepSizes, side: usize) -> Work {
    let (m, images, d) = (sizes.patches, sizes.images, sizes.patch * sizes.patch);
    let patches = (side - sizes.patch + 1).pow(2);
    // Distances of patches are matrix products.
    let sums = |pairs: f64| both_ways(pairs * (2.0 * d as f64 + 12.0), 0.0);
    let cross = sums((m * patches * images) as f64);
    let variances = sums((patches * patches * images) as f64 / 2.0);
    let traffic = passes(images * side * side + m * images, 0.0);
    let prior = covariance(m, m, d) + factor(m) + triangular(m, images);
    cross + variances + traffic + prior + moments(m, images, sizes.classes)
}

/// A softmax likelihood: 64 draws of the functions.
fn softmax(sizes: &StepSizes) -> Work {
    passes(64 * sizes.images * sizes.classes, 6.0)
}
