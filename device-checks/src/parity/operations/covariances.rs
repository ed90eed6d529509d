//! Stationary covariances of points and of image patches.

use burn_gp_core::{
    ops::{self, Blocks, Stationary},
    patches::{ImageShape, PatchGrid},
};

use super::{BATCH, Case, SIZES, case, exact};

/// The number of dimensions, D.
const DIMENSIONS: usize = 3;

/// The number of images, and of inducing patches.
const IMAGES: usize = 5;
const PATCHES: usize = 7;

pub(super) fn cases() -> Vec<Case> {
    let stationary = Stationary::ALL.into_iter().flat_map(of_kind);
    stationary.chain(of_uncertain_inputs()).collect()
}

fn of_uncertain_inputs() -> [Case; 2] {
    let [rows, _, points] = SIZES;
    [
        exact("expected_covariance", move |harness| {
            let (mean, variance) = (
                harness.normal([rows, DIMENSIONS]),
                harness.positive([rows, DIMENSIONS]),
            );
            let points = harness.normal([points, DIMENSIONS]);
            let (lengthscales, scale) = (harness.positive([DIMENSIONS]), harness.positive([1]));
            let covariance = ops::expected_covariance(mean, variance, points, lengthscales, scale);
            harness.output("covariance", covariance);
        }),
        exact("expected_products", move |harness| {
            let (mean, variance) = (
                harness.normal([rows, DIMENSIONS]),
                harness.positive([rows, DIMENSIONS]),
            );
            let points = harness.normal([points, DIMENSIONS]);
            let (lengthscale, scale) = (harness.positive([1]), harness.positive([1]));
            let products = ops::expected_products(mean, variance, points, lengthscale, scale);
            harness.output("products", products);
        }),
    ]
}

fn of_kind(kind: Stationary) -> Vec<Case> {
    let [rows, columns, vectors] = SIZES;
    let named = |operation: &str| format!("{operation}, {kind:?}");
    let mut cases = vec![
        exact(&named("covariance"), move |harness| {
            let (x1, x2) = (
                harness.normal([rows, DIMENSIONS]),
                harness.normal([columns, DIMENSIONS]),
            );
            let (lengthscales, variance) = (harness.positive([DIMENSIONS]), harness.positive([1]));
            let covariance = ops::covariance(kind, x1, x2, lengthscales, variance);
            harness.output("covariance", covariance);
        }),
        exact(&named("covariance_matrix"), move |harness| {
            let x = harness.normal([columns, DIMENSIONS]);
            let (lengthscale, variance) = (harness.positive([1]), harness.positive([1]));
            let matrix = ops::covariance(kind, x.clone(), x, lengthscale, variance);
            harness.output("covariance", matrix);
        }),
        exact(&named("covariances"), move |harness| {
            let x1 = harness.normal([BATCH, rows, DIMENSIONS]);
            let x2 = harness.normal([BATCH, columns, DIMENSIONS]);
            let lengthscales = harness.positive([BATCH * DIMENSIONS]);
            let variances = harness.positive([BATCH]);
            let covariances = ops::covariances(kind, x1, x2, lengthscales, variances);
            harness.output("covariances", covariances);
        }),
    ];
    for same in [false, true] {
        let between = if same { "one set" } else { "two sets" };
        cases.extend([
            exact(
                &named(&format!("covariance_product, {between}")),
                move |harness| {
                    let x1 = harness.normal([columns, DIMENSIONS]);
                    let x2 = (!same).then(|| harness.normal([columns, DIMENSIONS]));
                    let (lengthscales, variance) =
                        (harness.positive([DIMENSIONS]), harness.positive([1]));
                    let vectors = harness.normal([columns, vectors]);
                    let product =
                        ops::covariance_product(kind, x1, x2, lengthscales, variance, vectors);
                    harness.output("product", product);
                },
            ),
            exact(
                &named(&format!("block_covariance, {between}")),
                move |harness| {
                    let points = harness.normal([columns, DIMENSIONS]);
                    let others = (!same).then(|| harness.normal([rows, DIMENSIONS]));
                    let (lengthscales, variance) =
                        (harness.positive([DIMENSIONS]), harness.positive([1]));
                    let values = harness.normal([columns]);
                    let blocks = Blocks::new(columns, 5);
                    let covariance = ops::block_covariance(
                        kind,
                        blocks,
                        points,
                        others,
                        lengthscales,
                        variance,
                        values,
                    );
                    harness.output("covariance", covariance);
                },
            ),
        ]);
    }
    cases.extend(of_patches(kind));
    cases
}

fn of_patches(kind: Stationary) -> [Case; 2] {
    let image = ImageShape::new(8, 9, 2);
    let grid = move || PatchGrid::new(image, 3, 2);
    [
        case(&format!("patch_covariance, {kind:?}"), move |harness| {
            let grid = grid()?;
            let (dimensions, count) = (grid.dimensions(), grid.count());
            let inducing = harness.normal([PATCHES, dimensions]);
            let images = harness.normal([IMAGES, image.len()]);
            let (lengthscales, variance) = (harness.positive([1]), harness.positive([1]));
            // A patch of D numbers is √D lengthscales away from another.
            let lengthscales = lengthscales * (dimensions as f64).sqrt();
            let weights = harness.normal([PATCHES, count]);
            harness.output(
                "covariance",
                ops::patch_covariance(
                    kind,
                    &grid,
                    inducing,
                    images,
                    lengthscales,
                    variance,
                    weights,
                ),
            );
            Ok(())
        }),
        case(&format!("patch_variance, {kind:?}"), move |harness| {
            let grid = grid()?;
            let (dimensions, count) = (grid.dimensions(), grid.count());
            let images = harness.normal([IMAGES, image.len()]);
            let lengthscales = harness.positive([dimensions]) * (dimensions as f64).sqrt();
            let variance = harness.positive([1]);
            let weights = harness.normal([count, count]);
            let variances =
                ops::patch_variance(kind, &grid, images, lengthscales, variance, weights);
            harness.output("variance", variances);
            Ok(())
        }),
    ]
}
