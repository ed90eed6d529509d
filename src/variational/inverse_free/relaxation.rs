//! The bound of an approximate inverse, computed by matrix products only.

use burn::tensor::Tensor;

use super::super::FunctionMatrices;
use crate::ops::{
    ExactMatmul, RelaxedMatrices, diagonals, is_on_cpu, relaxed_terms,
    transposed_triangular_product, triangular_product,
};

/// `K_uu`, `S̃` and a triangular L with `T = LLᵀ ≈ K̃⁻¹`, `K̃ = K_uu + S̃`: shared by all
/// functions, or one per function.
pub(super) struct Relaxation<const D: usize> {
    pub kuu: Tensor<D>,
    /// s̃, [M, 1] or [P, M, 1]
    variances: Tensor<D>,
    /// L, of the shape of K_uu
    root: Tensor<D>,
}

/// The terms of the bound.
pub(super) struct Terms<const D: usize> {
    /// `k_nᵀP_R·k_n`, `[N, 1]` or `[N, P]`
    pub explained: Tensor<2>,
    /// v, with one column per column of m̃
    pub weights: Tensor<D>,
    /// `Σ_p v_pᵀK_uu·v_p`, `[1]`
    pub squares: Tensor<1>,
    /// `tr(K̃T) − tr(P_R·K_uu)`, summed over the matrices, `[1]`
    pub traces: Tensor<1>,
}

/// Applies `product` to the columns of `first` and `others` in one call, and splits the result.
fn together<const D: usize, const OTHERS: usize>(
    first: Tensor<D>,
    others: [Option<Tensor<D>>; OTHERS],
    product: impl FnOnce(Tensor<D>) -> Tensor<D>,
) -> (Tensor<D>, [Option<Tensor<D>>; OTHERS]) {
    let columns = |matrix: &Tensor<D>| matrix.dims()[D - 1];
    let mut end = columns(&first);
    let own = end;
    let widths = others.each_ref().map(|other| other.as_ref().map(columns));
    let mut all = vec![first];
    all.extend(others.into_iter().flatten());
    if all.len() == 1 {
        return (product(all.swap_remove(0)), widths.map(|_| None));
    }
    let all = product(Tensor::cat(all, D - 1));
    let parts = widths.map(|width| {
        let width = width?;
        end += width;
        Some(all.clone().narrow(D - 1, end - width, width))
    });
    (all.narrow(D - 1, 0, own), parts)
}

impl<const D: usize> Relaxation<D>
where
    Tensor<D>: FunctionMatrices,
{
    /// Creates the bound from `K_uu`, the flat s̃ and L, `[1, M, M]` or `[P, M, M]`.
    ///
    /// # Panics
    ///
    /// If the number of S̃ or L differs from the number of matrices `K_uu`.
    #[track_caller]
    pub fn new(kuu: Tensor<D>, variances: Tensor<1>, root: Tensor<3>) -> Self {
        let dims = kuu.dims();
        let matrices = dims[..D - 2].iter().product::<usize>();
        let ([groups, _, _], [count]) = (root.dims(), variances.dims());
        assert!(
            groups == matrices && count == matrices * dims[D - 1],
            "InverseFree: {matrices} covariance matrices {dims:?} under this prior, {groups} \
             auxiliary matrices, {count} variances; use the kind of prior (shared or \
             separate kernels) that the posterior was made for"
        );
        Self {
            variances: variances.reshape(with_columns(dims, 1)),
            root: root.reshape(dims),
            kuu,
        }
    }

    /// `T·X`.
    pub fn inverse(&self, columns: Tensor<D>) -> Tensor<D> {
        let half = transposed_triangular_product(self.root.clone(), columns);
        triangular_product(self.root.clone(), half)
    }

    /// `K_uu·X` and `K̃X`.
    pub fn products(&self, columns: Tensor<D>) -> (Tensor<D>, Tensor<D>) {
        let product = self.kuu.clone().exact_matmul(columns.clone());
        let noisy = product.clone() + columns * self.variances.clone();
        (product, noisy)
    }

    /// `k_nᵀP_R·k_n = Σ_m W∘(2K_uf − K̃W)`, `W = T·K_uf`, from `K_uf`, W and `K̃W`.
    pub fn explained(kuf: Tensor<D>, weights: Tensor<D>, products: Tensor<D>) -> Tensor<2> {
        weights.clone().column_products(kuf) * 2.0 - weights.column_products(products)
    }

    /// `v = P_R·m̃ = a + T(m̃ − K̃a)`, `a = T·m̃`. This residual form loses less to rounding than
    /// `P_R` itself.
    pub fn preconditioned(&self, mean: Tensor<D>) -> Tensor<D> {
        let first = self.inverse(mean.clone());
        let (_, product) = self.products(first.clone());
        first + self.inverse(mean - product)
    }

    /// All terms for the covariances `K_uf` and the columns of `m̃`.
    pub fn terms(
        &self,
        kuf: Tensor<D>,
        mean: Tensor<D>,
        preconditioned: bool,
        probes: Option<Tensor<D>>,
    ) -> Terms<D> {
        if self.root.is_tracked() || !is_on_cpu(&self.kuu) {
            return self.composed_terms(kuf, mean, preconditioned, probes);
        }
        let (shape, rows, estimated) = (mean.dims(), kuf.dims()[D - 1], probes.is_some());
        let matrices = RelaxedMatrices {
            kuu: self.kuu.clone(),
            variances: self.variances.clone().flatten(0, D - 1),
            lower: self.root.clone(),
        };
        let all = relaxed_terms(matrices, kuf, mean, probes, preconditioned);
        let [_, count] = all.dims();
        let part = |start, width| all.clone().narrow(1, start, width); // one row per matrix
        Terms {
            explained: part(0, rows).transpose(),
            weights: part(rows, count - rows - 2).reshape(shape),
            squares: part(count - 2, 1).sum(),
            traces: if estimated {
                part(count - 1, 1).sum()
            } else {
                self.exact_traces()
            },
        }
    }

    /// [`terms`](Self::terms) composed of operations that run on any device and have a gradient in
    /// L. Products with the same matrix are batched into one.
    fn composed_terms(
        &self,
        kuf: Tensor<D>,
        mean: Tensor<D>,
        preconditioned: bool,
        probes: Option<Tensor<D>>,
    ) -> Terms<D> {
        let preconditioned = preconditioned.then(|| mean.clone());
        let inverse = |columns| self.inverse(columns);
        let product = |columns| self.kuu.clone().exact_matmul(columns);
        let noisy = |plain: Tensor<D>, columns: Tensor<D>| plain + columns * self.variances.clone();

        let others = [probes.clone(), preconditioned];
        let (data, [traced, first]) = together(kuf.clone(), others, inverse); // T·[K_uf, z, m̃]
        let others = [traced.clone(), first.clone()];
        let (data_product, [traced_product, first_product]) =
            together(data.clone(), others, product);
        let traced_noisy =
            (traced_product.clone().zip(traced)).map(|(product, traced)| noisy(product, traced)); // K̃Tz
        let missing = (first_product.zip(first.clone()))
            .map(|(product, first)| mean.clone() - noisy(product, first)); // m̃ − K̃a
        let (correction, twice) = match (missing, traced_noisy.clone()) {
            (Some(missing), traced) => {
                let (correction, [twice]) = together(missing, [traced], inverse);
                (Some(correction), twice)
            }
            (None, traced) => (None, traced.map(inverse)),
        };
        let weights = match first.zip(correction) {
            Some((first, correction)) => first + correction,
            None => mean,
        };
        let (weights_product, [twice]) = together(weights.clone(), [twice], product);

        let traces = match (probes, traced_product, traced_noisy, twice) {
            (Some(probes), Some(plain), Some(noisy), Some(twice)) => {
                // zᵀ(K̃T − 2K_uu·T + K_uu·TK̃T)z
                let count = probes.dims()[D - 1] as f64;
                let estimate = noisy - plain * 2.0 + twice;
                probes.column_products(estimate).sum() * (1.0 / count)
            }
            _ => self.exact_traces(),
        };
        let noisy = noisy(data_product, data.clone());
        Terms {
            explained: Self::explained(kuf, data, noisy),
            squares: weights.clone().column_products(weights_product).sum(),
            weights,
            traces,
        }
    }

    /// `tr(K̃T) − tr(P_R·K_uu) = tr H − 2tr G + Σ H∘G` with `G = LᵀK_uu·L` and `H = G + LᵀS̃L`.
    fn exact_traces(&self) -> Tensor<1> {
        let rows = transposed_triangular_product(self.root.clone(), self.kuu.clone()); // LᵀK_uu
        let inner = transposed_triangular_product(self.root.clone(), rows.transpose()); // G
        let scaled = self.root.clone() * self.variances.clone();
        let noise = transposed_triangular_product(self.root.clone(), scaled); // LᵀS̃L
        let trace = |matrix: &Tensor<D>| diagonals(matrix.clone()).sum();
        let both = (inner.clone() + noise.clone()).column_products(inner.clone());
        trace(&noise) - trace(&inner) + both.sum()
    }

    /// `Σ log|T|` over the matrices, `[1]`.
    pub fn log_determinant(&self) -> Tensor<1> {
        diagonals(self.root.clone()).square().log().sum()
    }
}

/// The given shape with another number of columns.
pub(super) fn with_columns<const D: usize>(mut dims: [usize; D], columns: usize) -> [usize; D] {
    dims[D - 1] = columns;
    dims
}
