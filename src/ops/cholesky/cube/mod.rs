//! The factorization on GPUs. Nothing is read back: the status records a failure, and a failed factor is NaN.

mod attempts;
mod elimination;
mod panels;
mod triangles;

use burn::{backend::TensorMetadata, tensor::DType};
use burn_cubecl::cubecl::prelude::*;

use super::{CholeskyOps, Jitter, status::Status};
use crate::ops::{
    cpu::{Side, matrix_dims},
    cube::{
        Argument, CubeBackend, CubeTensor, Part, Target, contiguous, count_operations, element,
        empty_like, matrices, product, transposed, with_shape, zeros_like,
    },
    decompositions::count_decomposition,
    triangular_solve::TriangularSolveOps,
};
use elimination::{PANEL, ROWS, THREADS};
use panels::TILE;
use triangles::{Triangle, checked_triangle, gradient_of_scales, log_determinant, triangle};
pub use triangles::{add_share_of_jitter, log_of_diagonal, multiple_of_identity};

/// A launch of the factorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Launch {
    /// Copies the matrix and adds the jitter.
    Preparation,
    /// Eliminates 32 columns from `first`.
    Panel { first: usize },
    /// Retries failed members with more jitter.
    FurtherAttempts,
}

impl Launch {
    /// The floating-point operations for a matrix of a size, if the first attempt succeeds.
    fn operations(self, size: usize) -> usize {
        let Self::Panel { first } = self else {
            return 0;
        };
        let below = size.saturating_sub(first + PANEL);
        // Every part eliminates the diagonal block again. The previous panel is subtracted from all columns
        // to its right, in tiles.
        let rows = below.div_ceil(ROWS).max(1) * PANEL + below;
        let eliminated = rows * PANEL * PANEL;
        if first == 0 {
            return eliminated;
        }
        let tiles = below.div_ceil(TILE);
        let subtracted = rows * PANEL * PANEL + tiles * (tiles + 1) / 2 * TILE * TILE * PANEL;
        eliminated + 2 * subtracted
    }
}

/// The launches for matrices of a size, ⌈M/32⌉ + 2 for any number of batch members.
fn launches(size: usize) -> impl Iterator<Item = Launch> {
    let panels = (0..size).step_by(PANEL);
    let panels = panels.map(|first| Launch::Panel { first });
    let ends = (size > 0).then_some((Launch::Preparation, Launch::FurtherAttempts));
    let (start, end) = ends.unzip();
    start.into_iter().chain(panels).chain(end)
}

/// The cubes for the panel at `first`: those with y = 0 handle parts of its columns; the others handle the
/// tiles of the triangle to its right, if an earlier panel contributes to them.
fn cubes_of_panel(size: usize, first: usize, batch: usize) -> CubeCount {
    let below = size.saturating_sub(first + PANEL);
    let tiles = if first > 0 { below.div_ceil(TILE) } else { 0 };
    let parts = below.div_ceil(ROWS).max(1);
    CubeCount::Static(parts.max(tiles) as u32, 1 + tiles as u32, batch as u32)
}

/// Factors matrices, [batch, M, M]. The jitter is relative to one scale per batch member, or else to
/// the mean of the diagonal.
fn factor(
    matrix: CubeTensor,
    scales: Option<CubeTensor>,
    jitter: Jitter,
) -> (CubeTensor, CubeTensor) {
    let [batch, size] = [matrix.shape()[0], matrix.shape()[1]];
    let status = zeros_like(&matrix, [batch, Status::WIDTH]);
    let factor = empty_like(&matrix, [batch, size, size]);
    if batch == 0 {
        return (factor, status);
    }
    let blocks = empty_like(&matrix, [batch, size.next_multiple_of(PANEL), PANEL]);
    let (client, dtype) = (matrix.client.clone(), element(&matrix));
    let dim = CubeDim::new_1d(THREADS as u32);
    let number = |value: f64| InputScalar::new(value, dtype);
    let address = matrix
        .required_address_type()
        .max(factor.required_address_type());
    let scaled = scales.is_some();
    // Without scales, the kernels do not read this tensor.
    let scales = scales.map_or_else(|| matrix.clone(), contiguous);
    let epsilon = match matrix.dtype {
        DType::F64 => f64::EPSILON,
        _ => f64::from(f32::EPSILON),
    };
    let second_attempt = jitter.attempts(epsilon).nth(1).unwrap_or_default();
    for launch in launches(size) {
        count_operations(batch * launch.operations(size));
        let given = matrix.clone().argument();
        let target = factor.clone().argument();
        let diagonal = blocks.clone().argument();
        let report = status.clone().argument();
        let scales = scales.clone().argument();
        // SAFETY: the kernels check every index against the shapes of the tensors.
        unsafe {
            match launch {
                Launch::Preparation => panels::prepare::launch_unchecked(
                    &client,
                    CubeCount::Static(size.div_ceil(PANEL) as u32, 1, batch as u32),
                    dim,
                    address,
                    given,
                    scales,
                    target,
                    diagonal,
                    report,
                    number(jitter.initial),
                    scaled,
                    dtype,
                ),
                Launch::Panel { first } => panels::panel::launch_unchecked(
                    &client,
                    cubes_of_panel(size, first, batch),
                    dim,
                    address,
                    target,
                    diagonal,
                    report,
                    first as u32,
                    dtype,
                ),
                Launch::FurtherAttempts => attempts::further_attempts::launch_unchecked(
                    &client,
                    CubeCount::Static(1, 1, batch as u32),
                    dim,
                    address,
                    given,
                    scales,
                    target,
                    report,
                    number(second_attempt),
                    number(f64::NAN),
                    jitter.escalations as u32,
                    scaled,
                    dtype,
                ),
            }
        }
    }
    (factor, status)
}

/// `½·L⁻ᵀ(Φ + Φᵀ)L⁻¹`
fn two_sided_solve(factor: CubeTensor, cotangent: CubeTensor) -> CubeTensor {
    count_decomposition();
    let symmetric = triangle(cotangent, Triangle::HalfSymmetric);
    let half = CubeBackend::factor_solve(factor.clone(), symmetric, Side::Transposed);
    CubeBackend::factor_solve(factor, transposed(half), Side::Transposed)
}

impl CholeskyOps for CubeBackend {
    fn cholesky(matrix: CubeTensor, jitter: Jitter) -> (CubeTensor, CubeTensor) {
        count_decomposition();
        let shape = matrix.shape();
        let (triangle, status) = factor(matrices(matrix), None, jitter);
        (with_shape(triangle, shape), status)
    }

    fn cholesky_scaled(
        matrix: CubeTensor,
        scales: CubeTensor,
        jitter: Jitter,
    ) -> (CubeTensor, CubeTensor) {
        count_decomposition();
        let shape = matrix.shape();
        let (triangle, status) = factor(matrices(matrix), Some(scales), jitter);
        (with_shape(triangle, shape), status)
    }

    fn factor_from_lower(matrix: CubeTensor) -> (CubeTensor, CubeTensor) {
        let shape = matrix.shape();
        let (triangle, status) = checked_triangle(matrices(matrix));
        (with_shape(triangle, shape), status)
    }

    fn lower_of_factor(factor: CubeTensor) -> CubeTensor {
        triangle(factor, Triangle::Lower)
    }

    fn factor_log_determinant(factor: CubeTensor) -> CubeTensor {
        count_decomposition();
        log_determinant(matrices(factor))
    }

    fn cholesky_backward(
        factor: CubeTensor,
        status: CubeTensor,
        cotangent: CubeTensor,
    ) -> CubeTensor {
        add_share_of_jitter(two_sided_solve(factor, cotangent), status)
    }

    fn cholesky_scaled_backward(
        factor: CubeTensor,
        status: CubeTensor,
        cotangent: CubeTensor,
    ) -> [CubeTensor; 2] {
        let gradient = two_sided_solve(factor, cotangent);
        let scales = gradient_of_scales(gradient.clone(), status);
        [gradient, scales]
    }

    fn factor_from_lower_backward(factor: CubeTensor, cotangent: CubeTensor) -> CubeTensor {
        count_decomposition();
        let lower = triangle(cotangent, Triangle::Lower);
        let solved = Self::factor_solve(factor, lower, Side::Transposed);
        triangle(solved, Triangle::Lower)
    }

    fn lower_of_factor_backward(factor: CubeTensor, gradient: CubeTensor) -> CubeTensor {
        let factor = triangle(factor, Triangle::Lower);
        let gradient = triangle(gradient, Triangle::Lower);
        product(transposed(factor), gradient, Target::New, Part::Lower)
    }

    fn factor_log_determinant_backward(factor: CubeTensor, gradient: CubeTensor) -> CubeTensor {
        let shape = factor.shape();
        let (_, size, _) = matrix_dims(&shape);
        with_shape(multiple_of_identity(gradient, 2.0, size), shape)
    }
}

#[cfg(test)]
mod tests {
    use super::{Launch, launches};

    #[test]
    fn a_factorization_has_a_launch_for_every_panel_and_two_more() {
        assert_eq!(launches(0).count(), 0);
        for (size, count) in [(1, 3), (32, 3), (33, 4), (512, 18), (1024, 34)] {
            assert_eq!(launches(size).count(), count, "{size}");
        }
        assert_eq!(launches(70).nth(3), Some(Launch::Panel { first: 64 }));
    }
}
