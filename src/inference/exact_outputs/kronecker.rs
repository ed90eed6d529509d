//! When the covariance of a table is a Kronecker product, and whether that pays.

use burn::tensor::Tensor;

use super::{super::noise_at_points::has_noise_at_points, ExactOutputs, entries::Entries};
use crate::{kernels::KernelModule, ops::is_on_cpu};

/// An eigendecomposition of N rows takes as long as this many times N³ multiply-adds of a factorization, as
/// `cargo bench --bench exact_outputs` measures from 100 rows on: with two outputs, both ways take the same time.
const DECOMPOSITION: f64 = 4.0;

/// What [`kronecker_log_density`](crate::ops::kronecker_log_density) takes.
pub(super) struct KroneckerTable {
    /// K_x, `[N, N]`
    pub(super) covariance: Tensor<2>,
    /// Γ, `[P, P]`
    pub(super) outputs: Tensor<2>,
    /// σ², `[P]`
    pub(super) noise: Tensor<1>,
    /// r, `[n, 1]`
    pub(super) residual: Tensor<2>,
    /// The places `row·P + output` that are not observed, ascending.
    pub(super) holes: Vec<usize>,
}

impl<K: KernelModule> ExactOutputs<K> {
    /// The table of these entries; `None` if its covariance is no Kronecker product plus noise, or a factor of the
    /// covariance of the entries takes less time.
    pub(super) fn kronecker_table(
        &self,
        entries: &Entries,
        inputs: &Tensor<2>,
        targets: &Tensor<2>,
    ) -> Option<KroneckerTable> {
        let outputs = self.coregionalization.as_ref()?.covariance_of_levels();
        let count = entries.outputs;
        let applies = outputs.dims() == [count, count]
            && is_on_cpu(inputs)
            && pays(entries.rows, count, entries.places.len())
            // The outputs of one row are values at equal inputs.
            && !has_noise_at_points(&self.kernel, inputs.clone().narrow(0, 0, 1));
        applies.then(|| KroneckerTable {
            covariance: self.kernel.matrix_at(inputs.clone()),
            outputs,
            noise: self.likelihood.noise().expand([count]),
            residual: self.residual(entries, inputs.clone(), targets.clone()),
            holes: entries.holes(),
        })
    }
}

/// Whether N rows and P columns with n known cells take less time by eigendecompositions than by a factor of n rows.
///
/// In multiply-adds, the factor, the inverse and the product for the gradient take n³/2. With h = NP − n holes, the
/// columns of the inverse and the products of both take `h·NP·(2N + 2P + h/2)`.
fn pays(rows: usize, outputs: usize, known: usize) -> bool {
    let [n, p, known] = [rows, outputs, known].map(|count| count as f64);
    let holes = n * p - known;
    let complete = DECOMPOSITION * (n.powi(3) + p.powi(3)) + 4.0 * n * p * (n + p);
    let of_holes = holes * n * p * (2.0 * (n + p) + 0.5 * holes) + holes.powi(3) / 6.0;
    complete + of_holes < 0.5 * known.powi(3)
}
