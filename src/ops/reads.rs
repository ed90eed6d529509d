//! Reads the values of tensors as `f64`, and counts how often the CPU waits for a GPU to read them.

use std::sync::atomic::{AtomicU64, Ordering};

use burn::tensor::{Device, Element, Int, Tensor};

use super::is_cpu;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// The number of times that this process has waited to read a tensor from a GPU. Reads from CPU
/// memory do not count. It is for tests and benchmarks.
pub fn device_reads() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

/// Counts a read from `device` if that is a GPU.
fn count_read_from(device: Device) {
    if !is_cpu(device) {
        COUNT.fetch_add(1, Ordering::Relaxed);
    }
}

/// The values of a tensor as `f64`, row-major.
pub fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    values::<f64, D>(tensor)
}

/// The values of a tensor in the given type, row-major.
pub(crate) fn values<T: Element, const D: usize>(tensor: Tensor<D>) -> Vec<T> {
    count_read_from(tensor.device());
    tensor.into_data().iter::<T>().collect()
}

/// The only value of a tensor.
///
/// # Panics
///
/// If the tensor does not have exactly one value.
#[track_caller]
pub fn number<const D: usize>(tensor: Tensor<D>) -> f64 {
    count_read_from(tensor.device());
    tensor.into_scalar()
}

/// The row, the column and the value of the first NaN or infinite entry of a matrix. If there is none, it
/// reads a single value.
pub(crate) fn first_not_finite(matrix: &Tensor<2>) -> Option<(usize, usize, f64)> {
    let [rows, columns] = matrix.dims();
    if rows * columns == 0 {
        return None;
    }
    let matrix = matrix.clone().without_autodiff();
    // The product with zero is NaN where an entry is not finite.
    if number((matrix.clone() * 0.0).sum()) == 0.0 {
        return None;
    }
    let values = numbers(matrix);
    let index = values.iter().position(|value| !value.is_finite())?;
    Some((index / columns, index % columns, values[index]))
}

/// The only value of a tensor of integers.
///
/// # Panics
///
/// If the tensor does not have exactly one value.
#[track_caller]
pub fn integer<const D: usize>(tensor: Tensor<D, Int>) -> i64 {
    count_read_from(tensor.device());
    tensor.into_scalar()
}

/// The values of a tensor of integers as `f64`, row-major.
pub fn whole_numbers<const D: usize>(tensor: Tensor<D, Int>) -> Vec<f64> {
    count_read_from(tensor.device());
    tensor.into_data().iter::<f64>().collect()
}
