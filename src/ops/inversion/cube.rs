//! Natural-gradient matrix inversion on GPUs.

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use super::InversionOps;
use crate::ops::{
    cpu::Side,
    cube::{
        Argument, CubeBackend, CubeTensor, Entries, Form, Part, REDUCING, Reduction, Target,
        cubes_for, element, empty_like, product_of, reduce, transposed, zeros_like,
    },
    triangular_product::cube::triangular,
};

impl InversionOps for CubeBackend {
    fn congruence(matrix: CubeTensor, lower: CubeTensor) -> CubeTensor {
        let rows = triangular(lower.clone(), matrix, Side::Transposed); // LᵀA
        let form = Form {
            left: Entries::Upper,
            ..Form::of(Part::Lower)
        };
        product_of(transposed(lower), transposed(rows), Target::New, form)
    }

    fn identity_distance(matrix: CubeTensor) -> CubeTensor {
        let size = matrix.shape()[0];
        if size == 0 {
            return zeros_like(&matrix, [2]);
        }
        let (squares, out) = (empty_like(&matrix, [size]), empty_like(&matrix, [2]));
        let (client, dtype) = (matrix.client.clone(), element(&matrix));
        let address = matrix.required_address_type();
        // SAFETY: the kernels check rows and columns against the shape of the matrix; there is one sum of
        // squares per row.
        unsafe {
            row_squares::launch_unchecked(
                &client,
                cubecl::calculate_cube_count_elemwise(&client, size, CubeDim::new_1d(1)),
                CubeDim::new_1d(REDUCING as u32),
                address,
                matrix.clone().argument(),
                squares.clone().argument(),
                dtype,
            );
            distance::launch_unchecked(
                &client,
                CubeCount::new_single(),
                CubeDim::new_1d(REDUCING as u32),
                address,
                matrix.argument(),
                squares.argument(),
                out.clone().argument(),
                dtype,
            );
        }
        out
    }

    fn inversion_step(lower: CubeTensor, matrix: CubeTensor, step_size: f64) -> CubeTensor {
        let [direction, next] = [(); 2].map(|()| empty_like(&lower, lower.shape()));
        let count = lower.shape().num_elements();
        if count == 0 {
            return next;
        }
        let (client, dtype) = (lower.client.clone(), element(&lower));
        let (cubes, dim) = cubes_for(&lower, count);
        // SAFETY: the kernel checks a thread's index against the number of entries; all four matrices have
        // the same shape.
        unsafe {
            direction_kernel::launch_unchecked(
                &client,
                cubes,
                dim,
                lower.required_address_type(),
                lower.clone().argument(),
                matrix.argument(),
                next.clone().argument(),
                direction.clone().argument(),
                InputScalar::new(step_size, dtype),
                dtype,
            );
        }
        let form = Form {
            left: Entries::Lower,
            ..Form::of(Part::Lower)
        };
        product_of(lower, direction, Target::Difference(next), form)
    }
}

/// Row i's term of `‖H − I‖²_F`, `2·Σ_{j<i} H_ij² + (H_ii − 1)²`, computed by a cube.
#[cube(launch_unchecked, address_type = "dynamic")]
fn row_squares<F: Float>(
    matrix: &Tensor<F>,
    squares: &mut Tensor<F>,
    #[define(F)] _dtype: ElemType,
) {
    let row = CUBE_POS;
    if row >= matrix.shape(0) {
        terminate!();
    }
    let start = row * matrix.stride(0);
    let mut own = F::new(0.0);
    let mut column = UNIT_POS as usize;
    while column < row {
        let number = matrix[start + column * matrix.stride(1)];
        own += number * number;
        column += REDUCING;
    }
    let sum = reduce::<F>(own, Reduction::Sum);
    if UNIT_POS == 0 {
        let change = matrix[start + row * matrix.stride(1)] - F::new(1.0);
        squares[row] = F::new(2.0) * sum + change * change;
    }
}

/// `‖H − I‖_F` and the largest diagonal entry of H, computed by one cube.
#[cube(launch_unchecked, address_type = "dynamic")]
fn distance<F: Float>(
    matrix: &Tensor<F>,
    squares: &Tensor<F>,
    out: &mut Tensor<F>,
    #[define(F)] _dtype: ElemType,
) {
    let mut own = F::new(0.0);
    let mut largest = F::min_value();
    let mut row = UNIT_POS as usize;
    while row < matrix.shape(0) {
        own += squares[row];
        largest = max(largest, matrix[row * (matrix.stride(0) + matrix.stride(1))]);
        row += REDUCING;
    }
    let sum = reduce::<F>(own, Reduction::Sum);
    let largest = reduce::<F>(largest, Reduction::Largest);
    if UNIT_POS == 0 {
        out[0] = sum.sqrt();
        out[1] = largest;
    }
}

/// `γ·(tril(H) − ½(I + diag H))`, and the lower triangle of L.
#[cube(launch_unchecked, address_type = "dynamic")]
fn direction_kernel<F: Float>(
    lower: &Tensor<F>,
    matrix: &Tensor<F>,
    next: &mut Tensor<F>,
    direction: &mut Tensor<F>,
    step_size: InputScalar,
    #[define(F)] _dtype: ElemType,
) {
    let place = ABSOLUTE_POS;
    if place >= next.len() {
        terminate!();
    }
    let (row, column) = (place / lower.shape(1), place % lower.shape(1));
    let mut change = F::new(0.0);
    let mut own = F::new(0.0);
    if column <= row {
        own = lower[row * lower.stride(0) + column * lower.stride(1)];
        change = matrix[row * matrix.stride(0) + column * matrix.stride(1)];
        if column == row {
            change = F::new(0.5) * (change - F::new(1.0));
        }
    }
    next[place] = own;
    direction[place] = step_size.get::<F>() * change;
}
