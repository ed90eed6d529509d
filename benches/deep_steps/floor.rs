//! The minimum operations of a step, which no algorithm avoids, term by term.
//!
//! A multiply-add is two operations. A product of [M, K] and [K, N] takes 2·M·K·N operations; a triangular or
//! symmetric one takes half of that, a Cholesky factor M³/3. A backward pass takes about twice as many as the
//! forward pass. Elementwise functions, sums and Adam are not counted.

use super::cases::{CLASSES, Case, PATCH, RANK, SIDE, UNITS, WIDTH};

/// A part of the floor: its name, and its operations.
pub type Term = (&'static str, f64);

/// The terms of a case.
pub fn of(case: &Case) -> Vec<Term> {
    match case.name {
        "deep" => layers(case.batch, case.inducing, &[WIDTH, WIDTH, 1]),
        "conv" => {
            let patches = (SIDE - PATCH + 1) * (SIDE - PATCH + 1);
            let (images, dimensions) = ((case.batch, patches), PATCH * PATCH);
            let mut terms = layers(case.batch, case.inducing, &[CLASSES]);
            terms.extend(patch_distances(images, case.inducing, dimensions));
            terms
        }
        _ => deep_kernel(case.batch, &[1, UNITS, UNITS, RANK]),
    }
}

/// Layers with `inducing` points and `functions[i]` functions with a shared kernel.
fn layers(batch: usize, inducing: usize, functions: &[usize]) -> Vec<Term> {
    let (batch, inducing) = (batch as f64, inducing as f64);
    let layers = functions.len() as f64;
    let outputs = functions.iter().sum::<usize>() as f64;
    // L⁻¹K_uf, and twice as much in the backward pass.
    let triangle = 3.0 * inducing * inducing * batch;
    vec![
        // K_uu = LLᵀ takes M³/3, its backward pass M³.
        ("factors", layers * 4.0 / 3.0 * inducing.powi(3)),
        ("triangular solves", layers * triangle),
        // A factor of q(u), with L⁻¹K_uf, for each function.
        ("triangular products", outputs * triangle),
    ]
}

/// Squared distances in `dimensions` dimensions: between all inducing patches and all patches, and between
/// the patches of each image.
fn patch_distances(
    (images, patches): (usize, usize),
    inducing: usize,
    dimensions: usize,
) -> Vec<Term> {
    let [images, patches, inducing, dimensions] =
        [images, patches, inducing, dimensions].map(|count| count as f64);
    vec![
        // The same number in the backward pass, for the gradients of the inducing patches.
        (
            "distances to inducing patches",
            4.0 * dimensions * inducing * images * patches,
        ),
        // They are symmetric. The gradients of the lengthscale come from the same distances.
        (
            "distances within images",
            dimensions * images * patches * patches,
        ),
    ]
}

/// A network with layers of these `widths`, from the inputs to R features φ, and low-rank regression on
/// N = `rows` features Φ.
fn deep_kernel(rows: usize, widths: &[usize]) -> Vec<Term> {
    let rows = rows as f64;
    let products = widths
        .windows(2)
        .map(|pair| 2.0 * rows * (pair[0] * pair[1]) as f64);
    let (all, behind_first) = (products.clone().sum::<f64>(), products.skip(1).sum::<f64>());
    let rank = widths.last().map_or(0.0, |&rank| rank as f64);
    vec![
        // The outputs of every layer.
        ("network forward", all),
        // The gradients of the weights of every layer, and of the inputs of all but the first.
        ("network backward", all + behind_first),
        // ΦᵀΦ, which is symmetric.
        ("Gram matrix of the features", rows * rank * rank),
        // Φ·(G + Gᵀ), where G is the gradient of ΦᵀΦ.
        ("gradient of the features", 2.0 * rows * rank * rank),
        // I + ΦᵀΦ/σ² = LLᵀ takes R³/3, its inverse from L twice that.
        ("factor and inverse", rank.powi(3)),
    ]
}
