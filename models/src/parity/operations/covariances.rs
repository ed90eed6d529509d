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
    Stationary::ALL.into_iter().flat_map(of_kind).collect()
}

fn of_kind(kind: Stationary) -> Vec<Case> {
    let [rows, columns, vectors] = SIZES;
    let named = |operation: &str| format!("{operation}, {kind:?}");
    let mut cases = vec![
        exact(&named("covariance"), move |site| {
            let (x1, x2) = (
                site.normal([rows, DIMENSIONS]),
                site.normal([columns, DIMENSIONS]),
            );
            let (lengthscales, variance) = (site.positive([DIMENSIONS]), site.positive([1]));
            let covariance = ops::covariance(kind, x1, x2, lengthscales, variance);
            site.output("covariance", covariance);
        }),
        exact(&named("covariance_matrix"), move |site| {
            let x = site.normal([columns, DIMENSIONS]);
            let (lengthscale, variance) = (site.positive([1]), site.positive([1]));
            let matrix = ops::covariance_matrix(kind, x, lengthscale, variance);
            site.output("covariance", matrix);
        }),
        exact(&named("covariances"), move |site| {
            let x1 = site.normal([BATCH, rows, DIMENSIONS]);
            let x2 = site.normal([BATCH, columns, DIMENSIONS]);
            let lengthscales = site.positive([BATCH, DIMENSIONS]);
            let variances = site.positive([BATCH]);
            let covariances = ops::covariances(kind, x1, x2, lengthscales, variances);
            site.output("covariances", covariances);
        }),
    ];
    for same in [false, true] {
        let between = if same { "one set" } else { "two sets" };
        cases.extend([
            exact(
                &named(&format!("covariance_product, {between}")),
                move |site| {
                    let x1 = site.normal([columns, DIMENSIONS]);
                    let x2 = (!same).then(|| site.normal([columns, DIMENSIONS]));
                    let (lengthscales, variance) =
                        (site.positive([DIMENSIONS]), site.positive([1]));
                    let vectors = site.normal([columns, vectors]);
                    let product =
                        ops::covariance_product(kind, x1, x2, lengthscales, variance, vectors);
                    site.output("product", product);
                },
            ),
            exact(
                &named(&format!("block_covariance, {between}")),
                move |site| {
                    let points = site.normal([columns, DIMENSIONS]);
                    let others = (!same).then(|| site.normal([rows, DIMENSIONS]));
                    let (lengthscales, variance) =
                        (site.positive([DIMENSIONS]), site.positive([1]));
                    let values = site.normal([columns]);
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
                    site.output("covariance", covariance);
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
        case(&format!("patch_covariance, {kind:?}"), move |site| {
            let grid = grid()?;
            let (dimensions, count) = (grid.dimensions(), grid.count());
            let inducing = site.normal([PATCHES, dimensions]);
            let images = site.normal([IMAGES, image.len()]);
            let (lengthscales, variance) = (site.positive([1]), site.positive([1]));
            // A patch of D numbers is √D lengthscales away from another.
            let lengthscales = lengthscales * (dimensions as f64).sqrt();
            let weights = site.normal([PATCHES, count]);
            site.output(
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
        case(&format!("patch_variance, {kind:?}"), move |site| {
            let grid = grid()?;
            let (dimensions, count) = (grid.dimensions(), grid.count());
            let images = site.normal([IMAGES, image.len()]);
            let lengthscales = site.positive([dimensions]) * (dimensions as f64).sqrt();
            let variance = site.positive([1]);
            let weights = site.normal([count, count]);
            let variances =
                ops::patch_variance(kind, &grid, images, lengthscales, variance, weights);
            site.output("variance", variances);
            Ok(())
        }),
    ]
}
