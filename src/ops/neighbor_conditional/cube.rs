//! The conditional distributions on GPUs: one launch in each direction, and one cube for each row.
//!
//! A cube holds the lower triangle of its matrix in shared memory, row by row, and factors `A = LDLᵀ`. The last row
//! is eliminated with the others, so that it becomes `(L⁻¹k)ᵀ` and its end `κ − kᵀA⁻¹k`. Below its diagonal D, the
//! triangle then holds `LD`, whose columns are read as they are: each column needs one barrier.

use burn::{backend::TensorMetadata, tensor::DType};
use burn_cubecl::cubecl::{self, prelude::*};

use super::{NeighborConditionalOps, largest_on_device};
use crate::ops::{
    cholesky::{Jitter, Status},
    cube::{
        Argument, CubeBackend, CubeTensor, contiguous, count_operations, element, empty_like,
        is_finite,
    },
    decompositions::count_decomposition,
};

/// Sizes of matrices for which a kernel is compiled, beside the largest.
const SMALL: usize = 32;

impl NeighborConditionalOps for CubeBackend {
    fn neighbor_conditional(matrix: CubeTensor, jitter: Jitter) -> (CubeTensor, CubeTensor) {
        count_decomposition();
        let matrix = contiguous(matrix);
        let [rows, size, _] = matrix.shape().dims();
        let conditional = empty_like(&matrix, [rows, size]);
        let status = empty_like(&matrix, [rows, Status::WIDTH]);
        let (client, dtype) = (matrix.client.clone(), element(&matrix));
        let epsilon = match matrix.dtype {
            DType::F64 => f64::EPSILON,
            _ => f64::from(f32::EPSILON),
        };
        let number = |value: f64| InputScalar::new(value, dtype);
        let second = jitter.attempts(epsilon).nth(1).unwrap_or_default();
        count_operations(rows * operations(size));
        // SAFETY: a cube checks its row against the number of matrices; the results have a row for each.
        unsafe {
            forward::launch_unchecked(
                &client,
                cubes(&matrix),
                threads(size),
                matrix.required_address_type(),
                matrix.clone().argument(),
                conditional.clone().argument(),
                status.clone().argument(),
                number(jitter.initial),
                number(second),
                number(f64::NAN),
                jitter.escalations as u32,
                capacity(&matrix),
                dtype,
            );
        }
        (conditional, status)
    }

    fn neighbor_conditional_backward(saved: [CubeTensor; 3], gradient: CubeTensor) -> CubeTensor {
        count_decomposition();
        let [matrix, conditional, status] = saved.map(contiguous);
        let gradient = contiguous(gradient);
        let [rows, size, _] = matrix.shape().dims();
        let out = empty_like(&matrix, [rows, size, size]);
        let (client, dtype) = (matrix.client.clone(), element(&matrix));
        count_operations(rows * (operations(size) + 5 * size * size));
        // SAFETY: a cube checks its row against the number of matrices; the other tensors have a row for each.
        unsafe {
            backward::launch_unchecked(
                &client,
                cubes(&matrix),
                threads(size),
                matrix.required_address_type(),
                matrix.clone().argument(),
                conditional.argument(),
                status.argument(),
                gradient.argument(),
                out.clone().argument(),
                capacity(&matrix),
                dtype,
            );
        }
        out
    }
}

/// Multiplications and additions of a factorization and a substitution.
fn operations(size: usize) -> usize {
    size * size * size / 3 + size * size
}

/// A cube for each matrix.
fn cubes(matrices: &CubeTensor) -> CubeCount {
    let rows = matrices.shape()[0];
    cubecl::calculate_cube_count_elemwise(&matrices.client, rows, CubeDim::new_1d(1))
}

/// A thread for each row of a matrix.
fn threads(size: usize) -> CubeDim {
    CubeDim::new_1d(size.next_power_of_two().max(SMALL) as u32)
}

/// The size for which a kernel reserves memory.
fn capacity(matrices: &CubeTensor) -> usize {
    match matrices.shape()[1] {
        size if size <= SMALL => SMALL,
        _ => largest_on_device(matrices.dtype),
    }
}

/// `b = A⁻¹k` and `d = κ − kᵀb` with the first jitter that A needs; NaN if none helps.
#[cube(launch_unchecked, address_type = "dynamic")]
fn forward<F: Float>(
    matrix: &Tensor<F>,
    conditional: &mut Tensor<F>,
    status: &mut Tensor<F>,
    jitter: InputScalar,
    second_jitter: InputScalar,
    nan: InputScalar,
    escalations: u32,
    #[comptime] capacity: usize,
    #[define(F)] _dtype: ElemType,
) {
    let row = CUBE_POS;
    if row >= matrix.shape(0) {
        terminate!();
    }
    let (size, unit) = (matrix.shape(1), UNIT_POS as usize);
    let last = size - 1;
    let mut triangle = Shared::<[F]>::new_slice(comptime!(capacity * (capacity + 1) / 2));
    let mut values = Shared::<[F]>::new_slice(capacity);
    let mut failure = Shared::<[u32]>::new_slice(1usize);
    let diagonal = diagonal_of::<F>(matrix, row);
    // Jitter cannot repair a matrix that is not finite.
    let attempts = select(diagonal.finite, escalations, 0u32);
    let mut relative = jitter.get::<F>();
    let mut next = second_jitter.get::<F>();
    load::<F>(matrix, row, relative * diagonal.mean, &mut triangle);
    let mut failed = factor::<F>(&mut triangle, &mut failure, size);
    let mut attempt = 0u32;
    while failed > 0 && attempt < attempts {
        relative = next;
        next *= F::new(10.0);
        load::<F>(matrix, row, relative * diagonal.mean, &mut triangle);
        failed = factor::<F>(&mut triangle, &mut failure, size);
        attempt += 1;
    }
    substitute::<F>(&triangle, &mut values, size);
    if unit < last {
        let weight = values[unit] / triangle[place(unit, unit)];
        conditional[row * size + unit] = select(failed > 0, nan.get::<F>(), weight);
    }
    if unit == last {
        let variance = triangle[place(last, last)];
        conditional[row * size + last] = select(failed > 0, nan.get::<F>(), variance);
    }
    if unit == 0 {
        let start = row * Status::WIDTH;
        status[start] = F::cast_from(failed);
        status[start + 1] = relative;
        // The smaller and the larger of a value and NaN may be the value.
        status[start + 2] = select(diagonal.finite, diagonal.smallest, nan.get::<F>());
        status[start + 3] = select(diagonal.finite, diagonal.largest, nan.get::<F>());
    }
}

/// `K̄ = d̄·vvᵀ + ½(γvᵀ + vγᵀ)` for `v = (−b; 1)` and `γ = (A⁻¹b̄; 0)`, and what the jitter adds to it.
#[cube(launch_unchecked, address_type = "dynamic")]
fn backward<F: Float>(
    matrix: &Tensor<F>,
    conditional: &Tensor<F>,
    status: &Tensor<F>,
    gradient: &Tensor<F>,
    out: &mut Tensor<F>,
    #[comptime] capacity: usize,
    #[define(F)] _dtype: ElemType,
) {
    let row = CUBE_POS;
    if row >= matrix.shape(0) {
        terminate!();
    }
    let (size, unit) = (matrix.shape(1), UNIT_POS as usize);
    let last = size - 1;
    let mut triangle = Shared::<[F]>::new_slice(comptime!(capacity * (capacity + 1) / 2));
    let mut gamma = Shared::<[F]>::new_slice(capacity);
    let mut v = Shared::<[F]>::new_slice(capacity);
    let mut failure = Shared::<[u32]>::new_slice(1usize);
    let diagonal = diagonal_of::<F>(matrix, row);
    let relative = status[row * Status::WIDTH + 1];
    load::<F>(matrix, row, relative * diagonal.mean, &mut triangle);
    // The last row becomes (b̄ᵀ, κ).
    if unit < last {
        triangle[place(last, unit)] = gradient[row * size + unit];
    }
    let _failed = factor::<F>(&mut triangle, &mut failure, size);
    substitute::<F>(&triangle, &mut gamma, size);
    sync_cube();
    if unit < last {
        let value = gamma[unit] / triangle[place(unit, unit)];
        gamma[unit] = value;
        v[unit] = -conditional[row * size + unit];
    }
    if unit == last {
        gamma[unit] = F::new(0.0);
        v[unit] = F::new(1.0);
    }
    sync_cube();
    let slope = gradient[row * size + last]; // d̄
    // The gradient through the jitter ε·mean(diag A), on the diagonal of A: ε·mean(diag Ā)
    let mut trace = F::new(0.0);
    for i in 0..last {
        trace += v[i] * (slope * v[i] + gamma[i]);
    }
    let share = relative * trace / F::cast_from(last);
    let mut entry = unit;
    while entry < size * size {
        let (i, j) = (entry / size, entry % size);
        let mut value = slope * v[i] * v[j] + F::new(0.5) * (gamma[i] * v[j] + v[i] * gamma[j]);
        if i == j && i < last {
            value += share;
        }
        out[row * size * size + entry] = value;
        entry += CUBE_DIM as usize;
    }
}

/// The mean and the extremes of the diagonal of A.
#[derive(CubeType, Clone, Copy)]
struct Diagonal<F: Float> {
    mean: F,
    smallest: F,
    largest: F,
    finite: bool,
}

/// Of one matrix. Every thread computes all of it.
#[cube]
fn diagonal_of<F: Float>(matrix: &Tensor<F>, row: usize) -> Diagonal<F> {
    let size = matrix.shape(1);
    let start = row * size * size;
    let mut sum = F::new(0.0);
    let mut smallest = matrix[start];
    let mut largest = matrix[start];
    let mut finite = true;
    for i in 0..size - 1 {
        let value = matrix[start + i * (size + 1)];
        finite = finite && is_finite::<F>(value);
        sum += value;
        smallest = min(smallest, value);
        largest = max(largest, value);
    }
    let mean = select(finite, sum / F::cast_from(size - 1), F::new(0.0));
    Diagonal::<F> {
        mean,
        smallest,
        largest,
        finite,
    }
}

/// The place of an entry of a triangle.
#[cube]
fn place(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

/// Copies the lower triangle of a matrix, with `added` to the diagonal of A.
#[cube]
fn load<F: Float>(matrix: &Tensor<F>, row: usize, added: F, triangle: &mut Shared<[F]>) {
    let size = matrix.shape(1);
    // No thread still reads what an earlier attempt left.
    sync_cube();
    let mut entry = UNIT_POS as usize;
    while entry < size * size {
        let (i, j) = (entry / size, entry % size);
        if j <= i {
            let mut value = matrix[row * size * size + entry];
            if i == j && i + 1 < size {
                value += added;
            }
            triangle[place(i, j)] = value;
        }
        entry += CUBE_DIM as usize;
    }
    sync_cube();
}

/// Turns the rows of A into those of `LD`, with D on the diagonal, and eliminates the last row with them. Returns one
/// plus the first row whose pivot is not positive, or zero.
#[cube]
fn factor<F: Float>(triangle: &mut Shared<[F]>, failure: &mut Shared<[u32]>, size: usize) -> u32 {
    let unit = UNIT_POS as usize;
    let mut failed = 0u32;
    for j in 0..size - 1 {
        sync_cube();
        let pivot = triangle[place(j, j)];
        let usable = pivot > F::new(0.0) && is_finite::<F>(pivot);
        if failed == 0 && !usable {
            failed = j as u32 + 1;
        }
        if unit > j && unit < size {
            // A_ic ← A_ic − A_ij·A_cj/A_jj
            let ratio = triangle[place(unit, j)] / pivot;
            for c in j + 1..unit + 1 {
                let change = ratio * triangle[place(c, j)];
                triangle[place(unit, c)] -= change;
            }
        }
    }
    sync_cube();
    if unit == 0 {
        failure[0] = failed;
    }
    sync_cube();
    workgroup_uniform_load(&failure[0])
}

/// Solves `DLᵀx = y` for the y in the last row: leaves `D·x` in `values`.
#[cube]
fn substitute<F: Float>(triangle: &Shared<[F]>, values: &mut Shared<[F]>, size: usize) {
    let unit = UNIT_POS as usize;
    let last = size - 1;
    if unit < last {
        values[unit] = triangle[place(last, unit)];
    }
    for step in 0..last {
        let j = last - 1 - step;
        sync_cube();
        let solved = values[j] / triangle[place(j, j)];
        if unit < j {
            // y_i ← y_i − (LD)_ji·x_j
            let change = triangle[place(j, unit)] * solved;
            values[unit] -= change;
        }
    }
    sync_cube();
}
