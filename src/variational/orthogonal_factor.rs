//! The Cholesky factor of several sets of inducing variables, block by block.

use burn::tensor::Tensor;

use crate::{
    inducing::AnyInducing,
    kernels::Kernels,
    ops::{
        CholeskyFactor, Jitter, NotPositiveDefinite, cholesky, factor_rest, mean_diagonal,
        subtract_product, transposed_gram,
    },
    process::Moments,
};

/// The Cholesky factor of the joint covariance of T sets of inducing variables, in blocks:
/// `A_st = L_ss⁻¹(K_st − Σ_{r<s} A_rsᵀA_rt)`, `L_tt = chol(K_tt − Σ_{s<t} A_stᵀA_st)`.
///
/// `C_tt = K_tt − Σ_{s<t} A_stᵀA_st` is the residual covariance of set t given the sets before it.
/// For two sets these are the first lines of algorithm 1 of J. Shi, M. Titsias and A. Mnih, *Sparse
/// Orthogonal Variational Inference for Gaussian Processes*, arXiv:1910.10596: `L_11` is its `L_u`,
/// `A_12` its A, `L_22` its `L_v`.
#[derive(Clone, Debug)]
pub(crate) struct OrthogonalFactor {
    /// `L_tt`
    diagonal: Vec<CholeskyFactor<3>>,
    /// `A_st` for `s < t`, ordered by t, then by s.
    couplings: Vec<Vec<Tensor<3>>>,
}

impl OrthogonalFactor {
    /// Factors the joint covariance of `sets` under `prior`, each block once.
    ///
    /// The jitter of every block is relative to the diagonal of `K_tt`, not to the diagonal of the
    /// residual: the rounding of the subtraction is that of `K_tt`. The blocks then match the
    /// factor of all sets merged into one.
    pub fn new(
        prior: &Kernels,
        sets: &[&AnyInducing],
        jitter: Jitter,
    ) -> Result<Self, NotPositiveDefinite> {
        let mut factor = Self {
            diagonal: Vec::with_capacity(sets.len()),
            couplings: Vec::with_capacity(sets.len()),
        };
        for set in sets {
            let couplings = factor.solve(|before| sets[before].kuv(prior, set)); // A_st
            let block = factor_block(set.kuu(prior), &couplings, jitter)?;
            factor.diagonal.push(block);
            factor.couplings.push(couplings);
        }
        Ok(factor)
    }

    /// Solves with the whole factor block by block: `X_t = L_tt⁻¹(B_t − Σ_{s<t} A_stᵀX_s)`.
    pub fn solve(&self, rows: impl Fn(usize) -> Tensor<3>) -> Vec<Tensor<3>> {
        let mut solved: Vec<Tensor<3>> = Vec::with_capacity(self.diagonal.len());
        for (set, block) in self.diagonal.iter().enumerate() {
            let rest = self.rest(set, rows(set), &solved);
            solved.push(block.solve(rest));
        }
        solved
    }

    /// The means of `Σ_t X_tᵀu_t`, and their variances less those of standard normal variables, both
    /// `[N, P]`, for the solution X of [`solve`](Self::solve) and variables with these moments.
    pub fn solve_and_project_relative(
        &self,
        rows: impl Fn(usize) -> Tensor<3>,
        moments: &[Moments],
    ) -> (Tensor<2>, Tensor<2>) {
        let last = self.diagonal.len() - 1;
        let mut solved: Vec<Tensor<3>> = Vec::with_capacity(last);
        let each = self.diagonal.iter().zip(moments).enumerate();
        sum_of_sets(
            each.map(|(set, (block, moments))| {
                let rest = self.rest(set, rows(set), &solved);
                if set == last {
                    return moments.clone().solve_and_project_relative(block, rest);
                }
                let solution = block.solve(rest);
                solved.push(solution.clone());
                moments.clone().project_relative(solution)
            }),
            |(mean, change), (shift, another)| (mean + shift, change + another),
        )
    }

    /// `B_t − Σ_{s<t} A_stᵀX_s`
    fn rest(&self, set: usize, rows: Tensor<3>, solved: &[Tensor<3>]) -> Tensor<3> {
        let before = self.couplings[set].iter().zip(solved);
        before.fold(rows, |rest, (coupling, solved)| {
            subtract_product(rest, coupling.clone(), solved.clone())
        })
    }

    /// The diagonal blocks `L_tt`.
    pub fn blocks(&self) -> &[CholeskyFactor<3>] {
        &self.diagonal
    }

    /// Assembles the factor of all sets merged into one.
    pub fn into_one(mut self) -> CholeskyFactor<3> {
        if self.diagonal.len() == 1
            && let Some(only) = self.diagonal.pop()
        {
            return only;
        }
        let diagonal = self.diagonal.iter().map(CholeskyFactor::lower).collect();
        let lower = from_blocks(diagonal, |row, column| {
            Some(self.couplings[row][column].clone().transpose())
        });
        CholeskyFactor::from_nonsingular(lower)
    }
}

/// The sum over sets, of which there is at least one.
pub(crate) fn sum_of_sets<T>(each: impl Iterator<Item = T>, add: impl Fn(T, T) -> T) -> T {
    let Some(sum) = each.reduce(add) else {
        unreachable!("a posterior without inducing variables")
    };
    sum
}

/// The factor of `K_tt − Σ_s A_stᵀA_st`, with jitter relative to the diagonal of `K_tt`.
fn factor_block(
    covariance: Tensor<3>,
    couplings: &[Tensor<3>],
    jitter: Jitter,
) -> Result<CholeskyFactor<3>, NotPositiveDefinite> {
    if couplings.is_empty() {
        return cholesky(covariance, jitter);
    }
    let variance = mean_diagonal(covariance.clone());
    let residual = couplings.iter().fold(covariance, |rest, coupling| {
        rest - transposed_gram(coupling.clone())
    });
    factor_rest(residual, variance, jitter)
}

/// Assembles a square matrix from its diagonal blocks and the blocks below them,
/// `below(row, column)`. All other blocks are zero.
pub(crate) fn from_blocks(
    diagonal: Vec<Tensor<3>>,
    below: impl Fn(usize, usize) -> Option<Tensor<3>>,
) -> Tensor<3> {
    let sizes: Vec<usize> = diagonal.iter().map(|block| block.dims()[2]).collect();
    let rows = diagonal.into_iter().enumerate().map(|(row, block)| {
        let (mut shape, options) = (block.dims(), (&block.device(), block.dtype()));
        let mut zeros = |column: usize| {
            shape[2] = sizes[column];
            Tensor::zeros(shape, options)
        };
        let mut blocks: Vec<Tensor<3>> = (0..row)
            .map(|column| below(row, column).unwrap_or_else(|| zeros(column)))
            .collect();
        blocks.push(block.clone());
        blocks.extend((row + 1..sizes.len()).map(zeros));
        Tensor::cat(blocks, 2)
    });
    Tensor::cat(rows.collect(), 1)
}
