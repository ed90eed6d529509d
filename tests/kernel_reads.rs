//! Covariances, products with them and their gradients are computed without reading anything from a
//! GPU. This test is alone in its process because the counter counts all reads of the process.

use burn::tensor::Tensor;
use burn_gp_core::{
    kernels::{AnyKernel, KernelModule, block_covariance, covariance_product},
    ops::{Blocks, device_reads},
};
use burn_gp_test_support::{
    Platform, Random,
    kernel_registry::{DIMENSIONS, registry},
    platforms,
};

/// A loss of everything that a kernel computes from points.
fn loss(kernel: &AnyKernel, platform: &Platform, x1: Tensor<2>, x2: Tensor<2>) -> Tensor<1> {
    let mut random = Random::new(3);
    let [rows, _] = x1.dims();
    let [columns, _] = x2.dims();
    let own = platform.matrix(&random.matrix(rows, 2));
    let others = platform.matrix(&random.matrix(columns, 2));
    let values = platform.tensor(&random.normals(rows), [rows]);
    let blocks = Blocks::new(rows, 2);
    kernel.matrix_at(x1.clone()).sum()
        + kernel.diagonal_at(x1.clone()).sum()
        + kernel.covariance_at(x1.clone(), x2.clone()).sum()
        + covariance_product(kernel, x1.clone(), None, own).sum()
        + covariance_product(kernel, x1.clone(), Some(x2.clone()), others).sum()
        + block_covariance(kernel, blocks, x1.clone(), None, values.clone()).sum()
        + block_covariance(kernel, blocks, x1, Some(x2), values).sum()
}

#[test]
fn kernels_read_nothing_from_a_gpu() {
    let mut random = Random::new(5);
    let (x1, x2) = (random.points(6, DIMENSIONS), random.points(4, DIMENSIONS));
    for platform in platforms() {
        let tracked = platform.autodiff();
        for (name, config) in registry() {
            let kernel = config.init(DIMENSIONS, tracked.options());
            let points = |x| tracked.matrix(x).require_grad();
            let (x1, x2) = (points(&x1), points(&x2));
            let before = device_reads();
            let gradients = loss(&kernel, &tracked, x1, x2).backward();
            assert_eq!(device_reads(), before, "{name} on {platform}");
            drop(gradients);
        }
    }
}
