//! The bound of an approximate inverse, computed by matrix products only.

use burn::tensor::Tensor;

use crate::{
    ops::{
        ExactMatmul, RelaxedMatrices, diagonals, is_on_cpu, relaxed_terms,
        transposed_triangular_product, triangular_product,
    },
    process::column_sums_of_products,
};

/// `K_uu`, `S̃` and a triangular L with `T = LLᵀ ≈ K̃⁻¹`, `K̃ = K_uu + S̃`: shared by all
/// functions, or one per function.
#[derive(Clone, Debug)]
pub(super) struct Relaxation {
    /// K_uu, [B, M, M]
    pub kuu: Tensor<3>,
    /// s̃, [B, M, 1]
    pub variances: Tensor<3>,
    /// L, [B, M, M]
    root: Tensor<3>,
}

/// The terms of the bound.
pub(super) struct Terms {
    /// `k_nᵀP_R·k_n`, `[N, B]`
    pub explained: Tensor<2>,
    /// v, with one column per column of m̃
    pub weights: Tensor<3>,
    /// `Σ_p v_pᵀK_uu·v_p`, `[1]`
    pub squares: Tensor<1>,
    /// `tr(K̃T) − tr(P_R·K_uu)`, summed over the matrices, `[1]`
    pub traces: Tensor<1>,
}

/// Applies `product` to the columns of `first` and `others` in one call, and splits the result.
fn together<const OTHERS: usize>(
    first: Tensor<3>,
    others: [Option<Tensor<3>>; OTHERS],
    product: impl FnOnce(Tensor<3>) -> Tensor<3>,
) -> (Tensor<3>, [Option<Tensor<3>>; OTHERS]) {
    let columns = |matrix: &Tensor<3>| matrix.dims()[2];
    let mut end = columns(&first);
    let own = end;
    let widths = others.each_ref().map(|other| other.as_ref().map(columns));
    let mut all = vec![first];
    all.extend(others.into_iter().flatten());
    if all.len() == 1 {
        return (product(all.swap_remove(0)), widths.map(|_| None));
    }
    let all = product(Tensor::cat(all, 2));
    let parts = widths.map(|width| {
        let width = width?;
        end += width;
        Some(all.clone().narrow(2, end - width, width))
    });
    (all.narrow(2, 0, own), parts)
}

impl Relaxation {
    /// Creates the bound from `K_uu`, `[B, M, M]`, the flat s̃ and L, `[B, M, M]`.
    ///
    /// # Panics
    ///
    /// If the number of S̃ or L differs from the number of matrices `K_uu`.
    #[track_caller]
    pub fn new(kuu: Tensor<3>, variances: Tensor<1>, root: Tensor<3>) -> Self {
        let dims @ [batch, size, _] = kuu.dims();
        let ([groups, _, _], [count]) = (root.dims(), variances.dims());
        assert!(
            groups == batch && count == batch * size,
            "InverseFree: {batch} covariance matrices {dims:?} under this prior, {groups} \
             auxiliary matrices, {count} variances; use the kind of prior (shared or \
             separate kernels) that the posterior was made for"
        );
        Self {
            variances: variances.reshape([batch, size, 1]),
            root,
            kuu,
        }
    }

    /// The matrices of one function.
    pub fn of_function(&self, function: usize) -> Self {
        let own = |batch: &Tensor<3>| batch.clone().narrow(0, function, 1);
        Self {
            kuu: own(&self.kuu),
            variances: own(&self.variances),
            root: own(&self.root),
        }
    }

    /// `T·X`.
    pub fn inverse(&self, columns: Tensor<3>) -> Tensor<3> {
        let half = transposed_triangular_product(self.root.clone(), columns);
        triangular_product(self.root.clone(), half)
    }

    /// `K_uu·X` and `K̃X`.
    pub fn products(&self, columns: Tensor<3>) -> (Tensor<3>, Tensor<3>) {
        let product = self.kuu.clone().exact_matmul(columns.clone());
        let noisy = product.clone() + columns * self.variances.clone();
        (product, noisy)
    }

    /// `k_nᵀP_R·k_n = Σ_m W∘(2K_uf − K̃W)`, `W = T·K_uf`, from `K_uf`, W and `K̃W`.
    pub fn explained(kuf: Tensor<3>, weights: Tensor<3>, products: Tensor<3>) -> Tensor<2> {
        column_sums_of_products(weights.clone(), kuf) * 2.0
            - column_sums_of_products(weights, products)
    }

    /// `v = P_R·m̃ = a + T(m̃ − K̃a)`, `a = T·m̃`. This residual form loses less to rounding than
    /// `P_R` itself.
    pub fn preconditioned(&self, mean: Tensor<3>) -> Tensor<3> {
        let first = self.inverse(mean.clone());
        let (_, product) = self.products(first.clone());
        first + self.inverse(mean - product)
    }

    /// All terms for the covariances `K_uf` and the columns of `m̃`.
    pub fn terms(
        &self,
        kuf: Tensor<3>,
        mean: Tensor<3>,
        preconditioned: bool,
        probes: Option<Tensor<3>>,
    ) -> Terms {
        if self.root.is_tracked() || !is_on_cpu(&self.kuu) {
            return self.composed_terms(kuf, mean, preconditioned, probes);
        }
        let (shape, rows, estimated) = (mean.dims(), kuf.dims()[2], probes.is_some());
        let matrices = RelaxedMatrices {
            kuu: self.kuu.clone(),
            variances: self.variances.clone().flatten(0, 2),
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
        kuf: Tensor<3>,
        mean: Tensor<3>,
        preconditioned: bool,
        probes: Option<Tensor<3>>,
    ) -> Terms {
        let preconditioned = preconditioned.then(|| mean.clone());
        let inverse = |columns| self.inverse(columns);
        let product = |columns| self.kuu.clone().exact_matmul(columns);
        let noisy = |plain: Tensor<3>, columns: Tensor<3>| plain + columns * self.variances.clone();

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
                let count = probes.dims()[2] as f64;
                let estimate = noisy - plain * 2.0 + twice;
                column_sums_of_products(probes, estimate).sum() * (1.0 / count)
            }
            _ => self.exact_traces(),
        };
        let noisy = noisy(data_product, data.clone());
        Terms {
            explained: Self::explained(kuf, data, noisy),
            squares: column_sums_of_products(weights.clone(), weights_product).sum(),
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
        let trace = |matrix: &Tensor<3>| diagonals(matrix.clone()).sum();
        let both = column_sums_of_products(inner.clone() + noise.clone(), inner.clone());
        trace(&noise) - trace(&inner) + both.sum()
    }

    /// `Σ log|T|` over the matrices, `[1]`.
    pub fn log_determinant(&self) -> Tensor<1> {
        diagonals(self.root.clone()).square().log().sum()
    }
}
