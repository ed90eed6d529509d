//! The count of kernels that GPUs are given.

use burn_gp_core::ops::{gram, launches};

use crate::support::{numbers, platforms};

#[test]
fn the_kernels_of_a_gpu_are_counted() {
    for platform in platforms() {
        let basis = platform.tensor(&[1.0, 2.0, 3.0, 4.0], [2, 2]);
        let (product, launches) = launches(|| gram(basis));
        assert_eq!(numbers(product), [5.0, 11.0, 11.0, 25.0], "{platform}");
        // On a CPU, kernels of other tests may have been counted.
        if !platform.is_host() {
            assert!(
                launches.values().sum::<usize>() > 0,
                "{platform}: {launches:?}"
            );
        }
    }
}
