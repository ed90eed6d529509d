//! The count of kernels that GPUs are given.

use burn_gp_core::ops::{gram, launches};

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
