//! Natural-gradient matrix inversion that reads nothing back from the device.

use burn::tensor::Tensor;

use super::{
    NaturalInversion,
    natural_inversion::{DIVERGED, safe_start},
    on_device::choose,
};
use crate::ops::congruence;

impl NaturalInversion {
    /// Makes `steps` steps without reading their residuals, so that the CPU does not wait for a GPU,
    /// and returns L. As in [`run`](Self::run), L stays as it is once its residual is below the
    /// tolerance, and restarts at [`safe_start`] after divergence. L is also unchanged if the matrix
    /// is not finite.
    ///
    /// A call that has too few steps, for example after a restart, leaves a usable L, from which the
    /// next call continues.
    ///
    /// # Shapes
    ///
    /// - `matrix` (A): `[M, M]`, symmetric; `start` (L): `[M, M]`, zeros above the diagonal; neither
    ///   may be on an autodiff device
    ///
    /// # Panics
    ///
    /// If the shapes do not match.
    #[track_caller]
    pub fn run_unread(&self, matrix: &Tensor<2>, start: Tensor<2>, steps: usize) -> Tensor<2> {
        let [size, _] = matrix.dims();
        let tolerance = self.tolerance * (size as f64).sqrt();
        let safe = safe_start(matrix);
        let mut lower = start.clone();
        for step in 0..steps {
            let curvature = congruence(matrix.clone(), lower.clone());
            let distance = curvature.identity_distance();
            let (residual, largest) = (distance.clone().narrow(0, 0, 1), distance.narrow(0, 1, 1));
            let usable = (largest.lower_elem(DIVERGED)).bool_and(residual.clone().is_finite());
            let converged = residual.lower_elem(tolerance);
            let next = curvature.descend(lower.clone(), self.step_sizes.at(step));
            lower = choose(usable, choose(converged, lower, next), safe.clone());
        }
        choose(matrix.clone().sum().is_finite(), lower, start)
    }
}
