//! The moments on GPUs.

use burn::{backend::TensorMetadata, tensor::Shape};
use burn_cubecl::cubecl::{
    self,
    prelude::*,
    zspace::{Strides, metadata::Metadata},
};

use super::{Baseline, MomentOps};
use crate::ops::{
    cpu::Side,
    cube::{
        Argument, CubeBackend, CubeTensor, Entries, Form, Part, REDUCING, Reduction, Target,
        contiguous, cubes_for, element, empty_like,
        logarithm::logarithm,
        matrices, product, product_of, reduce, row_sums,
        sums::{Summand, column_sums, column_sums_into},
        transposed, with_shape, zeros_like,
    },
    triangular_product::cube::triangular,
};

/// One basis per variable: the given ones, or several views of a single one.
fn of_each(basis: CubeTensor, outputs: usize) -> CubeTensor {
    let mut basis = matrices(basis);
    let (shape, mut strides) = (basis.shape(), basis.meta.strides().clone());
    if shape[0] != outputs {
        strides[0] = 0;
    }
    *basis.meta = Metadata::new(Shape::new([outputs, shape[1], shape[2]]), strides);
    basis
}

/// A view of the first values of a contiguous tensor.
fn first_part(tensor: &CubeTensor, shape: Shape, strides: &[usize]) -> CubeTensor {
    let mut part = tensor.clone();
    *part.meta = Metadata::new(shape, Strides::new(strides));
    part
}

impl MomentOps for CubeBackend {
    fn projected_moments(
        basis: CubeTensor,
        mean: CubeTensor,
        scale: CubeTensor,
        baseline: Baseline,
    ) -> (CubeTensor, CubeTensor) {
        let [outputs, size] = mean.shape().dims();
        let basis = of_each(basis, outputs);
        let columns = basis.shape()[2];
        let projected = triangular(scale, basis.clone(), Side::Transposed);
        if projected.shape().num_elements() == 0 {
            return (zeros_like(&mean, [2, outputs, columns]), projected);
        }
        let moments = empty_like(&mean, [2, outputs, columns]);
        let mean = with_shape(contiguous(mean), [outputs, 1, size]);
        let means = product(mean, basis.clone(), Target::New, Part::Whole);
        // Both are column sums: the means are sums over matrices with one row.
        column_sums_into(means, None, Summand::Numbers, &moments, 0);
        let second = outputs * columns;
        let (other, summand) = match baseline {
            Baseline::Zero => (None, Summand::Squares),
            Baseline::StandardNormal => (Some(basis), Summand::DifferencesOfSquares),
        };
        column_sums_into(projected.clone(), other, summand, &moments, second);
        (moments, projected)
    }

    fn column_squares(basis: CubeTensor) -> CubeTensor {
        column_sums(basis, None, Summand::Squares)
    }

    fn column_products(left: CubeTensor, right: CubeTensor) -> CubeTensor {
        column_sums(left, Some(right), Summand::Products)
    }

    fn gaussian_kl(mean: CubeTensor, scale: CubeTensor) -> CubeTensor {
        let [outputs, size] = mean.shape().dims();
        let rows = empty_like(&mean, [outputs, size]);
        if outputs * size > 0 {
            let (mean, scale) = (contiguous(mean), matrices(scale));
            let (client, dtype) = (mean.client.clone(), element(&mean));
            let cubes = outputs * size;
            // SAFETY: the kernel checks a cube's index against the number of rows; it reads the lower
            // triangles and one mean per row.
            unsafe {
                kl_kernel::launch_unchecked(
                    &client,
                    cubecl::calculate_cube_count_elemwise(&client, cubes, CubeDim::new_1d(1)),
                    CubeDim::new_1d(REDUCING as u32),
                    scale.required_address_type(),
                    mean.argument(),
                    scale.argument(),
                    rows.clone().argument(),
                    dtype,
                );
            }
        }
        row_sums(rows)
    }

    fn projected_moments_backward(
        saved: [CubeTensor; 4],
        gradient: CubeTensor,
        baseline: Baseline,
    ) -> [CubeTensor; 3] {
        let [basis, mean, scale, projected] = saved;
        let [outputs, size] = mean.shape().dims();
        let is_shared = basis.shape().num_dims() == 2;
        let each = of_each(basis.clone(), outputs);
        let columns = each.shape()[2];
        let gradient = contiguous(gradient);
        // 2·V_p·diag(ḣ), from the second half of the gradient.
        let weighted = scaled_columns(projected, &gradient, outputs * columns, 2.0);
        let means = [outputs, 1, columns];
        let means = first_part(&gradient, Shape::new(means), &[columns, columns, 1]); // ḡ
        let mean = with_shape(contiguous(mean), [outputs, size, 1]);
        let scale_gradient = product(
            each.clone(),
            transposed(weighted.clone()),
            Target::New,
            Part::Lower,
        );
        let mean_gradient = product(means.clone(), transposed(each), Target::New, Part::Whole);
        let start = match baseline {
            Baseline::Zero => Target::New,
            Baseline::StandardNormal => Target::Sum(baseline_gradient(
                basis,
                &gradient,
                is_shared && outputs > 1,
            )),
        };
        let whole = Form {
            joins: is_shared,
            ..Form::of(Part::Whole)
        };
        let lower = Form {
            left: Entries::Lower,
            ..whole
        };
        let of_means = product_of(mean, means, start, whole);
        let basis_gradient = product_of(scale, weighted, Target::Sum(of_means), lower);
        [
            basis_gradient,
            with_shape(mean_gradient, [outputs, size]),
            scale_gradient,
        ]
    }

    fn column_squares_backward(basis: CubeTensor, gradient: CubeTensor) -> CubeTensor {
        scaled_columns(basis, &contiguous(gradient), 0, 2.0)
    }

    fn column_products_backward(
        [left, right]: [CubeTensor; 2],
        gradient: CubeTensor,
    ) -> [CubeTensor; 2] {
        let gradient = contiguous(gradient);
        [right, left].map(|other| scaled_columns(other, &gradient, 0, 1.0))
    }

    fn gaussian_kl_backward(
        [mean, scale]: [CubeTensor; 2],
        gradient: CubeTensor,
    ) -> [CubeTensor; 2] {
        let [mean_gradient, scale_gradient] =
            [&mean, &scale].map(|tensor| empty_like(tensor, tensor.shape()));
        let count = scale.shape().num_elements();
        if count > 0 {
            let (mean, gradient) = (contiguous(mean), contiguous(gradient));
            let scale = matrices(scale);
            let (client, dtype) = (mean.client.clone(), element(&mean));
            let (cubes, dim) = cubes_for(&mean, count);
            // SAFETY: the kernel checks a thread's index against the numbers of scales and of means.
            unsafe {
                kl_backward_kernel::launch_unchecked(
                    &client,
                    cubes,
                    dim,
                    scale.required_address_type(),
                    mean.argument(),
                    scale.argument(),
                    gradient.argument(),
                    mean_gradient.clone().argument(),
                    scale_gradient.clone().argument(),
                    dtype,
                );
            }
        }
        [mean_gradient, scale_gradient]
    }
}

/// `−2·A·diag(ḣ)`, or `−2·A·diag(Σ_p ḣ_p)` if variables share the basis. ḣ is the second half of the
/// gradient.
fn baseline_gradient(basis: CubeTensor, gradient: &CubeTensor, is_shared: bool) -> CubeTensor {
    let [_, outputs, columns] = gradient.shape().dims();
    let second = outputs * columns;
    if !is_shared {
        return scaled_columns(basis, gradient, second, -2.0);
    }
    let sums = column_sums(gradient.clone(), None, Summand::Numbers); // [2, N]
    scaled_columns(basis, &sums, columns, -2.0)
}

/// `factor·A·diag(g)`, one per batch member, for the values of a contiguous g from `first` on.
fn scaled_columns(
    matrix: CubeTensor,
    weights: &CubeTensor,
    first: usize,
    factor: f64,
) -> CubeTensor {
    let out = empty_like(&matrix, matrix.shape());
    let count = out.shape().num_elements();
    if count > 0 {
        let matrix = matrices(matrix);
        let (client, dtype) = (matrix.client.clone(), element(&matrix));
        let (cubes, dim) = cubes_for(&matrix, count);
        // SAFETY: the kernel checks a thread's index against the number of entries; there is one weight per
        // column from `first` on.
        unsafe {
            scale_kernel::launch_unchecked(
                &client,
                cubes,
                dim,
                matrix.required_address_type(),
                matrix.argument(),
                weights.clone().argument(),
                out.clone().argument(),
                first,
                InputScalar::new(factor, dtype),
                dtype,
            );
        }
    }
    out
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn scale_kernel<F: Float>(
    matrix: &Tensor<F>,
    weights: &Tensor<F>,
    out: &mut Tensor<F>,
    first: usize,
    factor: InputScalar,
    #[define(F)] _dtype: ElemType,
) {
    let place = ABSOLUTE_POS;
    if place >= out.len() {
        terminate!();
    }
    let (rows, columns) = (matrix.shape(1), matrix.shape(2));
    let (row, column) = (place / columns, place % columns);
    let (member, row) = (row / rows, row % rows);
    let number =
        matrix[member * matrix.stride(0) + row * matrix.stride(1) + column * matrix.stride(2)];
    out[place] = factor.get::<F>() * number * weights[first + member * columns + column];
}

/// Row i's term of the KL divergence, `½(Σ_j W_ij² + m_i² − 1) − log|W_ii|`, computed by a cube.
#[cube(launch_unchecked, address_type = "dynamic")]
fn kl_kernel<F: Float>(
    mean: &Tensor<F>,
    scale: &Tensor<F>,
    rows: &mut Tensor<F>,
    #[define(F)] _dtype: ElemType,
) {
    let size = scale.shape(1);
    let (member, row) = (CUBE_POS / size, CUBE_POS % size);
    if member >= scale.shape(0) {
        terminate!();
    }
    let start = member * scale.stride(0) + row * scale.stride(1);
    let mut own = F::new(0.0);
    let mut column = UNIT_POS as usize;
    while column < row {
        let number = scale[start + column * scale.stride(2)];
        own += number * number;
        column += REDUCING;
    }
    let squares = reduce::<F>(own, Reduction::Sum);
    if UNIT_POS == 0 {
        let diagonal = scale[start + row * scale.stride(2)];
        let location = mean[CUBE_POS];
        // Avoids cancellation near the standard normal distribution.
        let change = (diagonal - F::new(1.0)) * (diagonal + F::new(1.0));
        let half = F::new(0.5) * (squares + location * location + change);
        rows[CUBE_POS] = half - logarithm::<F>(diagonal.abs());
    }
}

/// `m̄ = g·m` and `W̄ = g·(tril(W) − diag(1/W_ii))`.
#[cube(launch_unchecked, address_type = "dynamic")]
fn kl_backward_kernel<F: Float>(
    mean: &Tensor<F>,
    scale: &Tensor<F>,
    gradient: &Tensor<F>,
    mean_gradient: &mut Tensor<F>,
    scale_gradient: &mut Tensor<F>,
    #[define(F)] _dtype: ElemType,
) {
    let place = ABSOLUTE_POS;
    if place >= scale_gradient.len() {
        terminate!();
    }
    let size = scale.shape(1);
    let (row, column) = (place / size, place % size);
    let (member, row) = (row / size, row % size);
    let weight = gradient[member];
    let mut value = F::new(0.0);
    if column <= row {
        let number =
            scale[member * scale.stride(0) + row * scale.stride(1) + column * scale.stride(2)];
        value = weight * number;
        if column == row {
            value -= weight / number;
        }
    }
    scale_gradient[place] = value;
    if place < mean.len() {
        mean_gradient[place] = gradient[place / size] * mean[place];
    }
}
