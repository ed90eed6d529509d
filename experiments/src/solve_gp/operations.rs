//! Multiply-adds of the forward pass of a training step.
//!
//! The product of an a×b and a b×c matrix has abc multiply-adds. Symmetric products, products with
//! a triangular matrix and triangular solves have half as many; a Cholesky factorization of size m
//! has m³/6. The backward pass costs about twice the forward pass for every model and therefore
//! cancels in ratios. Terms without a product of three sizes (covariances, column sums) are left
//! out.

/// The compared models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sets {
    /// SVGP with this many inducing points.
    One(usize),
    /// SOLVE-GP with this many inducing points in each of two sets.
    Two(usize),
}

impl Sets {
    /// The multiply-adds of a step in this library, with batches of `batch` rows.
    ///
    /// One set of size m, batch b: the factor L of `K_uu` (m³/6), `Λ = L⁻¹K_uf` (m²b/2), and `WᵀΛ`
    /// with triangular W (m²b/2). Two sets add for the second: `A = L⁻¹K_uv` (m³/2),
    /// `C_vv = K_vv − AᵀA` (m³/2), its factor (m³/6), `C_vf = K_vf − AᵀΛ` (m²b), the solve of it
    /// (m²b/2), and the product with the second W (m²b/2). Unwhitened posteriors add
    /// `L⁻¹W` for each set (m³/2).
    pub fn own(self, batch: usize, whitened: bool) -> f64 {
        let b = batch as f64;
        let whitening = if whitened { 0.0 } else { 0.5 };
        match self {
            Self::One(size) => {
                let m = size as f64;
                m.powi(3) * (1.0 / 6.0 + whitening) + m * m * b
            }
            Self::Two(size) => {
                let m = size as f64;
                m.powi(3) * (2.0 / 6.0 + 1.0 + 2.0 * whitening) + 3.0 * m * m * b
            }
        }
    }

    /// The multiply-adds in the paper's Table 4 (unwhitened, Algorithm 1): products with N columns
    /// NM² (SVGP), NM² + NM2² + NMM2 + MM2² (SOLVE-GP); factorizations M³ and M2³; triangular
    /// solves M³ + 2NM² (SVGP), and M2³ + 2NM2² + M2M² more (SOLVE-GP). The table counts every
    /// product as full.
    pub fn table_4(self, batch: usize) -> f64 {
        let b = batch as f64;
        let (products, factorizations, solves) = match self {
            Self::One(size) => {
                let m = size as f64;
                (b * m * m, m.powi(3), m.powi(3) + 2.0 * b * m * m)
            }
            Self::Two(size) => {
                let m = size as f64;
                (
                    3.0 * b * m * m + m.powi(3),
                    2.0 * m.powi(3),
                    3.0 * m.powi(3) + 4.0 * b * m * m,
                )
            }
        };
        products + factorizations / 6.0 + solves / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With far more inducing points than rows, only the cubic terms matter: 8·(1/6 + 1/2) against
    /// 1/3 + 2. With far fewer, only the quadratic terms matter: 4 against 3.
    #[test]
    fn ratios_have_the_limits_of_their_leading_terms() {
        let ratio =
            |size, batch| Sets::One(2 * size).own(batch, false) / Sets::Two(size).own(batch, false);
        assert!((ratio(1_000_000, 1) - (16.0 / 3.0) / (7.0 / 3.0)).abs() < 1e-4);
        assert!((ratio(1, 1_000_000) - 4.0 / 3.0).abs() < 1e-4);
    }

    /// One inducing point and one row: 1 + 1/6 + 3/2 and 4 + 2/6 + 7/2.
    #[test]
    fn the_smallest_counts_are_those_by_hand() {
        assert!((Sets::One(1).table_4(1) - 8.0 / 3.0).abs() < 1e-12);
        assert!((Sets::Two(1).table_4(1) - 47.0 / 6.0).abs() < 1e-12);
    }
}
