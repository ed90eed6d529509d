//! Triangles and diagonals of factors on GPUs, each in one or two launches.

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use crate::ops::{
    cholesky::status::Status,
    cube::{
        Argument, CubeTensor, REDUCING, Reduction, contiguous, cubes_for, element, empty_like,
        is_finite, logarithm::logarithm, matrices, reduce, with_shape, writable, zeros_like,
    },
};

/// The matrix that [`triangle`] builds from a lower triangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Triangle {
    /// The lower triangle, with zeros above the diagonal.
    Lower,
    /// `½(Φ + Φᵀ)` for the lower triangle Φ with its diagonal halved: half of the triangle and its mirror
    /// image.
    HalfSymmetric,
}

/// A copy of the lower triangles of matrices […, M, M].
pub fn triangle(matrix: CubeTensor, form: Triangle) -> CubeTensor {
    let shape = matrix.shape();
    let matrix = matrices(matrix);
    let out = empty_like(&matrix, shape.clone());
    if shape.num_elements() > 0 {
        let (client, dtype) = (matrix.client.clone(), element(&matrix));
        let (count, dim) = cubes_for(&matrix, shape.num_elements());
        let target = with_shape(out.clone(), matrix.shape());
        let address = matrix
            .required_address_type()
            .max(target.required_address_type());
        // SAFETY: the kernel stops if its position is past the last entry.
        unsafe {
            copy_triangle::launch_unchecked(
                &client,
                count,
                dim,
                address,
                matrix.argument(),
                target.argument(),
                form,
                dtype,
            );
        }
    }
    out
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn copy_triangle<F: Float>(
    matrix: &Tensor<F>,
    out: &mut Tensor<F>,
    #[comptime] form: Triangle,
    #[define(F)] _dtype: ElemType,
) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let size = out.shape(1);
    let (row, column) = (ABSOLUTE_POS / size % size, ABSOLUTE_POS % size);
    let start = ABSOLUTE_POS / (size * size) * matrix.stride(0);
    let mut value = F::new(0.0);
    if column <= row {
        value = matrix[start + row * matrix.stride(1) + column * matrix.stride(2)];
    } else if comptime!(form == Triangle::HalfSymmetric) {
        value = matrix[start + column * matrix.stride(1) + row * matrix.stride(2)];
    }
    if comptime!(form == Triangle::HalfSymmetric) {
        value *= F::new(0.5);
    }
    out[ABSOLUTE_POS] = value;
}

/// A copy of matrices, [batch, M, M], and the status. A matrix is NaN if a diagonal entry is zero or not
/// finite.
pub fn checked_triangle(matrix: CubeTensor) -> (CubeTensor, CubeTensor) {
    let shape = matrix.shape();
    let status = zeros_like(&matrix, [shape[0], Status::WIDTH]);
    let out = empty_like(&matrix, shape.clone());
    if shape.num_elements() > 0 {
        let (client, dtype) = (matrix.client.clone(), element(&matrix));
        let address = matrix
            .required_address_type()
            .max(out.required_address_type());
        let (count, dim) = cubes_for(&matrix, shape.num_elements());
        // SAFETY: the first kernel only reads rows before M, and the second stops if its position is past the
        // last entry.
        unsafe {
            check_diagonal::launch_unchecked(
                &client,
                CubeCount::Static(1, 1, shape[0] as u32),
                CubeDim::new_1d(REDUCING as u32),
                address,
                matrix.clone().argument(),
                status.clone().argument(),
                dtype,
            );
            copy_unless_failed::launch_unchecked(
                &client,
                count,
                dim,
                address,
                matrix.argument(),
                status.clone().argument(),
                out.clone().argument(),
                InputScalar::new(f64::NAN, dtype),
                dtype,
            );
        }
    }
    (out, status)
}

/// Writes one plus the first row whose diagonal entry is zero or not finite.
#[cube(launch_unchecked, address_type = "dynamic")]
fn check_diagonal<F: Float>(
    matrix: &Tensor<F>,
    status: &mut Tensor<F>,
    #[define(F)] _dtype: ElemType,
) {
    let (size, batch) = (matrix.shape(1), CUBE_POS_Z as usize);
    let step = matrix.stride(1) + matrix.stride(2);
    let mut first = F::cast_from(size);
    let mut row = UNIT_POS as usize;
    while row < size {
        let entry = matrix[batch * matrix.stride(0) + row * step];
        let place = F::cast_from(row);
        if (entry == F::new(0.0) || !is_finite::<F>(entry)) && place < first {
            first = place;
        }
        row += REDUCING;
    }
    let first = reduce::<F>(first, Reduction::Smallest);
    if UNIT_POS == 0 && first < F::cast_from(size) {
        status[batch * Status::WIDTH] = first + F::new(1.0);
    }
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn copy_unless_failed<F: Float>(
    matrix: &Tensor<F>,
    status: &Tensor<F>,
    out: &mut Tensor<F>,
    nan: InputScalar,
    #[define(F)] _dtype: ElemType,
) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let size = out.shape(1);
    let (row, column) = (ABSOLUTE_POS / size % size, ABSOLUTE_POS % size);
    let batch = ABSOLUTE_POS / (size * size);
    let mut value = nan.get::<F>();
    if status[batch * Status::WIDTH] == F::new(0.0) {
        let start = batch * matrix.stride(0);
        value = matrix[start + row * matrix.stride(1) + column * matrix.stride(2)];
    }
    out[ABSOLUTE_POS] = value;
}

/// `2·Σ log|L_ii|` for every member of a factor, [batch, M, M].
pub fn log_determinant(factor: CubeTensor) -> CubeTensor {
    let (batch, size) = (factor.shape()[0], factor.shape()[1]);
    if batch * size == 0 {
        return zeros_like(&factor, [batch]);
    }
    let out = empty_like(&factor, [batch]);
    let (client, dtype) = (factor.client.clone(), element(&factor));
    // SAFETY: the kernel only reads rows before M and writes one value per batch member.
    unsafe {
        sum_of_logarithms::launch_unchecked(
            &client,
            CubeCount::Static(1, 1, batch as u32),
            CubeDim::new_1d(REDUCING as u32),
            factor.required_address_type(),
            factor.argument(),
            out.clone().argument(),
            dtype,
        );
    }
    out
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn sum_of_logarithms<F: Float>(
    factor: &Tensor<F>,
    out: &mut Tensor<F>,
    #[define(F)] _dtype: ElemType,
) {
    let batch = CUBE_POS_Z as usize;
    let sum = log_of_diagonal::<F>(factor, batch);
    if UNIT_POS == 0 {
        out[batch] = sum + sum;
    }
}

/// `Σ log|L_ii|` of one member of a factor, [batch, M, M]; all threads of the cube must call this.
#[cube]
pub fn log_of_diagonal<F: Float>(factor: &Tensor<F>, batch: usize) -> F {
    let size = factor.shape(1);
    let step = factor.stride(1) + factor.stride(2);
    let mut sum = F::new(0.0);
    let mut row = UNIT_POS as usize;
    while row < size {
        sum += logarithm::<F>(factor[batch * factor.stride(0) + row * step].abs());
        row += REDUCING;
    }
    reduce::<F>(sum, Reduction::Sum)
}

/// `c·v·I` for every value v, [batch, M, M].
pub fn multiple_of_identity(values: CubeTensor, scale: f64, size: usize) -> CubeTensor {
    let values = contiguous(values);
    let batch = values.shape().num_elements();
    let out = empty_like(&values, [batch, size, size]);
    let elements = batch * size * size;
    if elements > 0 {
        let (client, dtype) = (values.client.clone(), element(&values));
        let (count, dim) = cubes_for(&values, elements);
        // SAFETY: the kernel stops if its position is past the last entry.
        unsafe {
            fill_diagonal::launch_unchecked(
                &client,
                count,
                dim,
                out.required_address_type(),
                values.argument(),
                out.clone().argument(),
                InputScalar::new(scale, dtype),
                dtype,
            );
        }
    }
    out
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn fill_diagonal<F: Float>(
    values: &Tensor<F>,
    out: &mut Tensor<F>,
    scale: InputScalar,
    #[define(F)] _dtype: ElemType,
) {
    if ABSOLUTE_POS >= out.len() {
        terminate!();
    }
    let size = out.shape(1);
    let mut value = F::new(0.0);
    if ABSOLUTE_POS / size % size == ABSOLUTE_POS % size {
        value = scale.get::<F>() * values[ABSOLUTE_POS / (size * size)];
    }
    out[ABSOLUTE_POS] = value;
}

/// Adds the gradient that reaches K through the jitter `ε·mean(diag K)` on its diagonal,
/// `ε·mean(diag K̄)·I`, to gradients […, M, M], with ε from the status of the factor.
pub fn add_share_of_jitter(gradient: CubeTensor, status: CubeTensor) -> CubeTensor {
    let scales = gradient_of_scales(gradient.clone(), status);
    let out = writable(gradient);
    let target = matrices(out.clone());
    let (batch, size) = (target.shape()[0], target.shape()[1]);
    if batch * size > 0 {
        let (client, dtype) = (target.client.clone(), element(&target));
        let (count, dim) = cubes_for(&target, batch * size);
        // SAFETY: the kernel stops if its position is past the last diagonal entry.
        unsafe {
            add_to_diagonal::launch_unchecked(
                &client,
                count,
                dim,
                target.required_address_type(),
                target.argument(),
                scales.argument(),
                InputScalar::new(1.0 / size as f64, dtype),
                dtype,
            );
        }
    }
    out
}

/// Adds `c·v·I` to every member of `matrix`, [batch, M, M], with one value v per member.
#[cube(launch_unchecked, address_type = "dynamic")]
fn add_to_diagonal<F: Float>(
    matrix: &mut Tensor<F>,
    values: &Tensor<F>,
    scale: InputScalar,
    #[define(F)] _dtype: ElemType,
) {
    let size = matrix.shape(1);
    if ABSOLUTE_POS >= matrix.shape(0) * size {
        terminate!();
    }
    let (batch, row) = (ABSOLUTE_POS / size, ABSOLUTE_POS % size);
    let place = (batch * size + row) * size + row;
    matrix[place] += values[batch] * scale.get::<F>();
}

/// `ε·tr K̄` for gradients […, M, M], with ε from the status of the factor.
pub fn gradient_of_scales(gradient: CubeTensor, status: CubeTensor) -> CubeTensor {
    let gradient = matrices(gradient);
    let (batch, size) = (gradient.shape()[0], gradient.shape()[1]);
    if batch * size == 0 {
        return zeros_like(&gradient, [batch]);
    }
    let out = empty_like(&gradient, [batch]);
    let (client, dtype) = (gradient.client.clone(), element(&gradient));
    // SAFETY: the kernel only reads rows before M and writes one value per batch member.
    unsafe {
        jitter_times_trace::launch_unchecked(
            &client,
            CubeCount::Static(1, 1, batch as u32),
            CubeDim::new_1d(REDUCING as u32),
            gradient.required_address_type(),
            gradient.argument(),
            contiguous(status).argument(),
            out.clone().argument(),
            dtype,
        );
    }
    out
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn jitter_times_trace<F: Float>(
    gradient: &Tensor<F>,
    status: &Tensor<F>,
    out: &mut Tensor<F>,
    #[define(F)] _dtype: ElemType,
) {
    let batch = CUBE_POS_Z as usize;
    let step = gradient.stride(1) + gradient.stride(2);
    let mut trace = F::new(0.0);
    let mut row = UNIT_POS as usize;
    while row < gradient.shape(1) {
        trace += gradient[batch * gradient.stride(0) + row * step];
        row += REDUCING;
    }
    let trace = reduce::<F>(trace, Reduction::Sum);
    if UNIT_POS == 0 {
        out[batch] = trace * status[batch * Status::WIDTH + 1];
    }
}
