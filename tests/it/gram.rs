//! Products of a matrix with its transpose and additions to a diagonal: values and gradients.

use crate::reference::{
    Random, add_diagonal, assert_all_close, double_precision, product, single_precision, tensor,
    transpose, values,
};
use burn::tensor::{DType, Tensor, TensorData};
use burn_gp_core::ops::{add_to_diagonal, gram, transposed_gram};

/// Sizes around the blocks of the triangular product, with sums of up to 700 rounded terms.
#[test]
fn values_are_those_of_dense_algebra() {
    for (dtype, tolerance, devices) in [
        (DType::F64, 1e-13, double_precision()),
        (DType::F32, 1e-5, single_precision()),
    ] {
        for (name, device) in devices {
            let options = (&device, dtype);
            for (rows, columns) in [(1, 1), (3, 700), (65, 2), (130, 67)] {
                let a = Random(3).uniform_rows(rows, columns, -1.0, 1.0);
                let square = product(&a, &transpose(&a));
                let transposed = transposed_gram(tensor(&a, options));
                let expected = product(&transpose(&a), &a).concat();
                let what = format!("{name} {dtype:?} {rows}x{columns}, transposed");
                assert_all_close(&values(transposed), &expected, tolerance, &what);
                let ours = gram(tensor(&a, options));
                let what = format!("{name} {dtype:?} {rows}x{columns}");
                assert_all_close(&values(ours.clone()), &square.concat(), tolerance, &what);
                let value = Tensor::<1>::from_data(TensorData::from([0.75f64]), options);
                let shifted = add_diagonal(square, 0.75).concat();
                let ours = values(add_to_diagonal(ours, value));
                assert_all_close(&ours, &shifted, tolerance, &what);
            }
        }
    }
}

/// With `f = Σ_ij C_ij·(AAᵀ + vI)_ij`: `∂f/∂A = (C + Cᵀ)A` and `∂f/∂v = tr C`.
#[test]
fn gradients_are_those_of_matrix_calculus() {
    for (name, device) in double_precision() {
        let device = device.autodiff();
        let options = (&device, DType::F64);
        let mut random = Random(5);
        let a = random.uniform_rows(70, 33, -1.0, 1.0);
        let weights = random.uniform_rows(70, 70, -1.0, 1.0);
        let basis = tensor(&a, options).require_grad();
        let value = Tensor::<1>::from_data(TensorData::from([0.75f64]), options).require_grad();
        let shifted = add_to_diagonal(gram(basis.clone()), value.clone());
        let gradients = (shifted * tensor(&weights, options)).sum().backward();
        let symmetric = crate::reference::combine(&weights, &transpose(&weights), 1.0);
        let expected = product(&symmetric, &a).concat();
        let ours = values(basis.grad(&gradients).unwrap());
        assert_all_close(&ours, &expected, 1e-13, name);
        let ours = values(value.grad(&gradients).unwrap());
        assert_all_close(&ours, &[crate::reference::trace(&weights)], 1e-13, name);
        // The transposed matrix as a batch of one: its AᵀA has the same values.
        let other = tensor(&transpose(&a), options).require_grad();
        let batch = transposed_gram(other.clone().unsqueeze::<3>());
        let weighted = batch * tensor(&weights, options).unsqueeze::<3>();
        let gradients = weighted.sum().backward();
        let ours = values(other.grad(&gradients).unwrap());
        assert_all_close(
            &ours,
            &product(&transpose(&a), &symmetric).concat(),
            1e-13,
            name,
        );
    }
}
