//! The count of kernels that GPUs are given.

use burn::tensor::Tensor;
use burn_gp_core::{
    ops::{Stationary, gram, launches, patch_covariance},
    patches::{ImageShape, PatchGrid},
};

use crate::support::{numbers, platforms};

#[test]
fn the_kernels_of_a_gpu_are_counted() {
    for platform in platforms() {
        let basis = platform.tensor(&[1.0, 2.0, 3.0, 4.0], [2, 2]);
        let (product, launches) = launches(|| gram(basis));
        assert_eq!(numbers(product), [5.0, 11.0, 11.0, 25.0], "{platform}");
        // Kernels of other tests may have been counted, too.
        if !platform.is_host() {
            // A tile of 16 rows, 16 columns and 16 terms, and the bytes of three matrices.
            assert!(
                launches.count() > 0
                    && launches.operations >= 2 * 16_u64.pow(3)
                    && launches.bytes >= 3 * 4 * 4,
                "{platform}: {launches:?}"
            );
        }
    }
}

/// The distances of all pairs of an inducing patch and a patch of an image are counted.
#[test]
fn patch_covariances_count_their_pairs() {
    let grid = PatchGrid::new(ImageShape::new(12, 12, 1), 5, 1).expect("patches fit");
    let (rows, images) = (3, 40);
    for platform in platforms() {
        let ones = |shape: [usize; 2]| Tensor::<2>::ones(shape, platform.options());
        let scale = || Tensor::<1>::ones([1], platform.options());
        let (sums, launches) = launches(|| {
            let inducing = ones([rows, grid.dimensions()]);
            let weights = ones([rows, grid.count()]);
            let (images, kind) = (ones([images, 144]), Stationary::SquaredExponential);
            patch_covariance(kind, &grid, inducing, images, scale(), scale(), weights)
        });
        // Equal patches have covariance one, and there are 64 in an image.
        assert_eq!(numbers(sums), vec![64.0; rows * images], "{platform}");
        if !platform.is_host() {
            let pairs = (rows * images * grid.count()) as u64;
            let least = 3 * pairs * grid.dimensions() as u64;
            assert!(launches.operations >= least, "{platform}: {launches:?}");
        }
    }
}
