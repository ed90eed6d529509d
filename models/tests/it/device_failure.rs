//! Failures of devices.

use burn::tensor::{Device, DeviceKind, Tensor};
use burn_gp_models::training::{DeviceFailure, on_device};

/// A tensor of a terabyte fits into no device, which says so when the tensor is read.
#[test]
fn too_little_memory_is_a_failure_of_the_device() {
    let device = Device::wgpu(DeviceKind::DefaultDevice);
    let failure = on_device(|| {
        let huge = Tensor::<2>::ones([1 << 19, 1 << 19], &device);
        huge.narrow(0, 0, 1).narrow(1, 0, 1).into_data()
    });
    let failure = failure.expect_err("a failure");
    assert!(
        matches!(failure, DeviceFailure::OutOfMemory { .. }),
        "{failure:?}"
    );
    assert!(failure.to_string().contains("out of memory"), "{failure}");

    // The device computes on.
    let two = Tensor::<1>::ones([1], &device) * 2.0;
    assert_eq!(two.into_scalar::<f32>(), 2.0);
}
