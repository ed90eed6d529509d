//! Systems with the precision of the posterior.

use super::latent_precision::{Columns, LatentPrecision, add};
use crate::inference::conjugate_gradients::Tridiagonal;

/// When a solve ends.
#[derive(Clone, Copy, Debug)]
pub struct Stop {
    pub iterations: usize,
    /// The length of the residual relative to that of the right-hand side.
    pub tolerance: f64,
}

/// `A = Q + W` for curvatures W of the likelihood, with the preconditioner `P = Bᵀ(D⁻¹ + W)B = RᵀR` for
/// `R = (D⁻¹ + W)^{½}B` (P. Kündig and F. Sigrist, *Iterative Methods for Vecchia-Laplace Approximations for Latent
/// Gaussian Process Models*, arXiv:2310.12000, Section 3.2, VADU).
///
/// Conjugate gradients run on `Ã = R⁻ᵀAR⁻¹ = E^{-½}(D⁻¹ + B⁻ᵀWB⁻¹)E^{-½}`, `E = D⁻¹ + W`. An iteration takes
/// two substitutions with B.
pub struct PosteriorPrecision<'a> {
    prior: &'a LatentPrecision,
    /// W, `[N]`, not negative
    curvature: &'a [f64],
    /// The diagonal of `E^{-½}`, `[N]`
    roots: Vec<f64>,
}

/// The solutions of systems with Ã.
pub struct Solved<const L: usize> {
    /// u, [N, L]
    pub solution: Columns<L>,
    /// The Lanczos matrix of each column.
    pub tridiagonals: [Tridiagonal; L],
}

impl<'a> PosteriorPrecision<'a> {
    pub fn new(prior: &'a LatentPrecision, curvature: &'a [f64]) -> Self {
        let entries = prior.variances().iter().zip(curvature);
        let roots =
            entries.map(|(variance, curvature)| (variance.recip() + curvature).sqrt().recip());
        Self {
            prior,
            curvature,
            roots: roots.collect(),
        }
    }

    pub fn prior(&self) -> &'a LatentPrecision {
        self.prior
    }

    /// The diagonal of `E^{-½}`, `[N]`.
    pub fn roots(&self) -> &[f64] {
        &self.roots
    }

    /// `log|P| = Σ log(1/d + w)`, because the determinant of B is one.
    pub fn log_determinant_of_preconditioner(&self) -> f64 {
        -2.0 * self.roots.iter().map(|root| root.ln()).sum::<f64>()
    }

    /// Replaces v by R⁻¹v.
    pub fn solve_root<const L: usize>(&self, values: &mut [[f64; L]]) {
        self.scale_by_roots(values);
        self.prior.solve(values);
    }

    /// Replaces v by R⁻ᵀv.
    pub fn solve_root_transposed<const L: usize>(&self, values: &mut [[f64; L]]) {
        self.prior.solve_transposed(values);
        self.scale_by_roots(values);
    }

    fn scale_by_roots<const L: usize>(&self, values: &mut [[f64; L]]) {
        for (value, root) in values.iter_mut().zip(&self.roots) {
            *value = value.map(|value| root * value);
        }
    }

    /// Ãu
    pub fn transformed_product<const L: usize>(&self, u: &[[f64; L]]) -> Columns<L> {
        let mut product = u.to_vec();
        self.product(self.curvature, u, &mut product);
        product
    }

    /// `R⁻ᵀ(BᵀD^{-½}ε + W^{½}ε′) = E^{-½}(D^{-½}ε + B⁻ᵀW^{½}ε′)`, whose covariance is Ã for independent normals.
    pub fn transformed_noise<const L: usize>(
        &self,
        of_prior: &[[f64; L]],
        mut of_density: Columns<L>,
    ) -> Columns<L> {
        for (value, curvature) in of_density.iter_mut().zip(self.curvature) {
            *value = value.map(|value| curvature.sqrt() * value);
        }
        self.prior.solve_transposed(&mut of_density);
        let variances = self.prior.variances().iter();
        for ((sum, noise), variance) in of_density.iter_mut().zip(of_prior).zip(variances) {
            add(sum, variance.sqrt().recip(), noise);
        }
        self.scale_by_roots(&mut of_density);
        of_density
    }

    /// Ãu with other curvatures than those of the preconditioner.
    fn product<const L: usize>(&self, curvature: &[f64], u: &[[f64; L]], out: &mut [[f64; L]]) {
        out.copy_from_slice(u);
        self.solve_root(out);
        for (value, curvature) in out.iter_mut().zip(curvature) {
            *value = value.map(|value| curvature * value);
        }
        self.prior.solve_transposed(out);
        let diagonals = self.roots.iter().zip(self.prior.variances());
        for ((out, u), (root, variance)) in out.iter_mut().zip(u).zip(diagonals) {
            for (out, u) in out.iter_mut().zip(u) {
                *out = root * (*out + root * u / variance);
            }
        }
    }

    /// `Ã⁻¹` times the columns.
    pub fn solve_transformed<const L: usize>(&self, right: Columns<L>, stop: Stop) -> Solved<L> {
        self.iterate(self.curvature, right, stop)
    }

    /// `(Q + W′)⁻¹r` for curvatures W′ that may be negative, `[N]`, as long as the matrix is positive definite.
    pub fn solve_with(&self, curvature: &[f64], right: &[f64], stop: Stop) -> Vec<f64> {
        let mut right: Columns<1> = right.iter().map(|&value| [value]).collect();
        self.solve_root_transposed(&mut right);
        let mut solution = self.iterate(curvature, right, stop).solution;
        self.solve_root(&mut solution);
        solution.into_iter().map(|[value]| value).collect()
    }

    /// Conjugate gradients.
    fn iterate<const L: usize>(
        &self,
        curvature: &[f64],
        right: Columns<L>,
        stop: Stop,
    ) -> Solved<L> {
        let mut product = right.clone();
        let mut state = Iteration::new(right, stop.tolerance);
        for _ in 0..stop.iterations {
            self.product(curvature, &state.direction, &mut product);
            if !state.advance(&product) {
                break;
            }
        }
        Solved {
            solution: state.solution,
            tridiagonals: state.tridiagonals,
        }
    }
}

/// The state of conjugate gradients for L columns.
struct Iteration<const L: usize> {
    solution: Columns<L>,
    residual: Columns<L>,
    direction: Columns<L>,
    /// The squared lengths of the residuals, and those at which a column is finished.
    square: [f64; L],
    limit: [f64; L],
    is_active: [bool; L],
    tridiagonals: [Tridiagonal; L],
    /// The last step and quotient of each column.
    before: [Option<(f64, f64)>; L],
}

impl<const L: usize> Iteration<L> {
    fn new(right: Columns<L>, tolerance: f64) -> Self {
        let square = dot(&right, &right);
        Self {
            solution: vec![[0.0; L]; right.len()],
            direction: right.clone(),
            residual: right,
            square,
            limit: square.map(|square| tolerance.powi(2) * square),
            is_active: square.map(|square| square > 0.0),
            tridiagonals: square.map(Tridiagonal::new),
            before: [None; L],
        }
    }

    /// Makes a step, given the product with the direction. Returns whether a column is not finished. A column whose
    /// curvature is not positive keeps its last solution.
    fn advance(&mut self, product: &[[f64; L]]) -> bool {
        let energy = dot(&self.direction, product);
        let steps: [f64; L] = std::array::from_fn(|lane| {
            self.is_active[lane] &= energy[lane] > 0.0;
            match self.is_active[lane] {
                true => self.square[lane] / energy[lane],
                false => 0.0,
            }
        });
        let pairs = self.solution.iter_mut().zip(&mut self.residual);
        for ((solution, residual), (direction, product)) in
            pairs.zip(self.direction.iter().zip(product))
        {
            add_each(solution, &steps, direction);
            add_each(residual, &steps.map(|step| -step), product);
        }
        let next = dot(&self.residual, &self.residual);
        let quotients: [f64; L] = std::array::from_fn(|lane| {
            if !self.is_active[lane] {
                return 0.0;
            }
            let (step, quotient) = (steps[lane], next[lane] / self.square[lane]);
            let before = self.before[lane].replace((step, quotient));
            self.tridiagonals[lane].push(step, quotient, before);
            self.is_active[lane] = next[lane] > self.limit[lane];
            quotient
        });
        self.square = next;
        for (direction, residual) in self.direction.iter_mut().zip(&self.residual) {
            let values = quotients.iter().zip(residual);
            for (direction, (quotient, residual)) in direction.iter_mut().zip(values) {
                *direction = residual + quotient * *direction;
            }
        }
        self.is_active.contains(&true)
    }
}

/// `sum += factor·value` in each column.
#[inline(always)]
fn add_each<const L: usize>(sums: &mut [f64; L], factors: &[f64; L], values: &[f64; L]) {
    for (sum, (factor, value)) in sums.iter_mut().zip(factors.iter().zip(values)) {
        *sum += factor * value;
    }
}

/// The scalar product of each column.
fn dot<const L: usize>(first: &[[f64; L]], second: &[[f64; L]]) -> [f64; L] {
    let mut sums = [0.0; L];
    for (first, second) in first.iter().zip(second) {
        let products = first.iter().zip(second);
        for (sum, (first, second)) in sums.iter_mut().zip(products) {
            *sum += first * second;
        }
    }
    sums
}
