//! Regression with orthogonal inducing points by the published formulas, with N×N matrices and
//! inverses (J. Shi, M. Titsias and A. Mnih, *Sparse Orthogonal Variational Inference for Gaussian
//! Processes*, arXiv:1910.10596).

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inducing::InducingPoints,
    inference::{Collapsed, CollapsedOrthogonal, Exact},
    kernels::StationaryKernel,
    likelihoods::Gaussian,
    means::{AnyMean, MeanConfig},
    ops::Jitter,
    process::VariationalGaussian,
};

use super::{
    Matrix, Problem, Random, add_diagonal, cholesky, combine, dot, log_determinant, log_normal,
    product, rows, solve, solve_lower, tensor, trace, transpose,
};

pub type Model = CollapsedOrthogonal;

/// A problem with a second set of inducing points.
#[derive(Clone)]
pub struct OrthogonalProblem {
    pub problem: Problem,
    pub o: Matrix,
}

/// P Gaussians over one set of inducing variables.
#[derive(Clone)]
pub struct Gaussians {
    /// [M, P]
    pub mean: Matrix,
    /// One covariance per function.
    pub covariances: Vec<Matrix>,
}

impl Gaussians {
    /// Random means and covariances `WWᵀ` of magnitude `size`.
    pub fn random(random: &mut Random, count: usize, outputs: usize, size: f64) -> Self {
        let mean = random.uniform_rows(count, outputs, -size, size);
        let covariances = (0..outputs)
            .map(|_| {
                let root = random.uniform_rows(count, count, -size, size);
                add_diagonal(product(&root, &transpose(&root)), 0.1 * size * size)
            })
            .collect();
        Self { mean, covariances }
    }

    /// The distributions of `Lu`, given those of u, where L is the factor of `prior`.
    pub fn unwhitened(whitened: &VariationalGaussian, prior: &Matrix) -> Self {
        let (factor, scale) = (cholesky(prior), whitened.scale());
        let covariance = |output: usize| {
            let scale = rows(scale.clone().narrow(0, output, 1).squeeze_dim(0));
            let root = product(&factor, &scale);
            product(&root, &transpose(&root))
        };
        let mean = rows(whitened.mean().transpose());
        Self {
            covariances: (0..mean[0].len()).map(covariance).collect(),
            mean: product(&factor, &mean),
        }
    }

    /// The distributions of `L⁻¹u`.
    pub fn whitened(&self, prior: &Matrix, options: (&Device, DType)) -> VariationalGaussian {
        let factor = cholesky(prior);
        let mean = tensor(&transpose(&solve_lower(&factor, &self.mean)), options);
        let scale = |covariance: &Matrix| {
            let half = transpose(&solve_lower(&factor, covariance));
            tensor(&cholesky(&solve_lower(&factor, &half)), options)
        };
        let scales = self.covariances.iter().map(scale).collect();
        VariationalGaussian::full(mean, Tensor::stack(scales, 0))
    }

    /// The mean of one function.
    fn mean_of(&self, output: usize) -> Vec<f64> {
        self.mean.iter().map(|row| row[output]).collect()
    }

    /// `Σ_p KL[N(m_p, S_p) ‖ N(0, prior)]`.
    pub fn kl(&self, prior: &Matrix) -> f64 {
        let kl = |(output, covariance): (usize, &Matrix)| {
            let mean: Matrix = self.mean_of(output).iter().map(|&m| vec![m]).collect();
            let squares = product(&transpose(&mean), &solve(prior, &mean))[0][0];
            let spread = trace(&solve(prior, covariance));
            let determinants = log_determinant(prior) - log_determinant(covariance);
            0.5 * (determinants - prior.len() as f64 + spread + squares)
        };
        self.covariances.iter().enumerate().map(kl).sum()
    }
}

pub fn scaled(matrix: &Matrix, factor: f64) -> Matrix {
    let row = |row: &Vec<f64>| row.iter().map(|value| factor * value).collect();
    matrix.iter().map(row).collect()
}

impl OrthogonalProblem {
    /// The 2-D problem with 7 additional points.
    pub fn plane(kind: burn_gp_core::ops::Stationary) -> Self {
        Self {
            problem: Problem::plane(kind),
            o: Random(41).uniform_rows(7, 2, -2.0, 2.0),
        }
    }

    /// The 1-D problem with golden values.
    pub fn golden() -> Self {
        Self {
            problem: Problem::golden(),
            o: vec![vec![1.0], vec![2.4]],
        }
    }

    fn kernel(&self, options: (&Device, DType)) -> StationaryKernel {
        let Problem {
            kind,
            lengthscales,
            variance,
            ..
        } = &self.problem;
        StationaryKernel::new(*kind, lengthscales, *variance, options)
    }

    fn mean(&self, mean: MeanConfig, options: (&Device, DType)) -> AnyMean {
        mean.init(self.problem.x[0].len(), self.problem.outputs(), options)
    }

    fn likelihood(&self, options: (&Device, DType)) -> Gaussian {
        Gaussian::new(self.problem.noise, options)
    }

    pub fn model_with_mean(
        &self,
        mean: MeanConfig,
        jitter: Jitter,
        options: (&Device, DType),
    ) -> Model {
        CollapsedOrthogonal::new(
            self.kernel(options),
            self.mean(mean, options),
            self.likelihood(options),
            InducingPoints::new(tensor(&self.problem.z, options)),
            InducingPoints::new(tensor(&self.o, options)),
            jitter,
        )
    }

    pub fn model(&self, jitter: Jitter, options: (&Device, DType)) -> Model {
        self.model_with_mean(MeanConfig::zero(), jitter, options)
    }

    /// The model with one set of inducing points.
    pub fn collapsed(
        &self,
        points: &Matrix,
        jitter: Jitter,
        options: (&Device, DType),
    ) -> Collapsed {
        Collapsed::new(
            self.kernel(options),
            self.mean(MeanConfig::zero(), options),
            self.likelihood(options),
            InducingPoints::new(tensor(points, options)),
            jitter,
        )
    }

    pub fn exact(&self, options: (&Device, DType)) -> Exact<StationaryKernel> {
        let mean = self.mean(MeanConfig::zero(), options);
        Exact::new(self.kernel(options), mean, self.likelihood(options))
    }

    pub fn data(&self, options: (&Device, DType)) -> (Tensor<2>, Tensor<2>) {
        (
            tensor(&self.problem.x, options),
            tensor(&self.problem.y, options),
        )
    }

    pub fn new_x(&self, options: (&Device, DType)) -> Tensor<2> {
        tensor(&self.problem.new_x, options)
    }

    /// All inducing points.
    pub fn union(&self) -> Matrix {
        [self.problem.z.clone(), self.o.clone()].concat()
    }

    pub fn kuu(&self) -> Matrix {
        self.problem.kuu(0.0)
    }

    /// `c(a, b) = k(a, b) − k(a, Z)K_uu⁻¹k(Z, b)`.
    pub fn c(&self, a: &Matrix, b: &Matrix) -> Matrix {
        let explained = product(
            &self.problem.covariance(a, &self.problem.z),
            &self.weights(b),
        );
        combine(&self.problem.covariance(a, b), &explained, -1.0)
    }

    /// `K_uu⁻¹k(Z, a)`.
    fn weights(&self, a: &Matrix) -> Matrix {
        solve(&self.kuu(), &self.problem.covariance(&self.problem.z, a))
    }

    pub fn cvv(&self) -> Matrix {
        self.c(&self.o, &self.o)
    }

    fn cvf(&self) -> Matrix {
        self.c(&self.o, &self.problem.x)
    }

    /// `C_vv⁻¹c(O, a)`.
    fn orthogonal_weights(&self, a: &Matrix) -> Matrix {
        solve(&self.cvv(), &self.c(&self.o, a))
    }

    /// `Q_ff + σ²I`.
    pub fn noisy(&self) -> Matrix {
        add_diagonal(self.problem.nystrom(0.0), self.problem.noise)
    }

    /// `R = C_fv C_vv⁻¹ C_vf`.
    pub fn orthogonal_nystrom(&self) -> Matrix {
        product(
            &transpose(&self.cvf()),
            &self.orthogonal_weights(&self.problem.x),
        )
    }

    /// `C_ff`.
    pub fn cff(&self) -> Matrix {
        self.c(&self.problem.x, &self.problem.x)
    }

    /// The optimal `q(v_⊥)`, equations 28 and 29.
    pub fn optimal_orthogonal(&self) -> Gaussians {
        let (cvv, cvf, noisy) = (self.cvv(), self.cvf(), self.noisy());
        let explained = product(&cvf, &solve(&noisy, &transpose(&cvf)));
        let projected = product(&cvf, &solve(&noisy, &self.problem.y));
        let mean = product(&cvv, &solve(&combine(&cvv, &explained, 1.0), &projected));
        let squares = product(&cvf, &transpose(&cvf));
        let precision = combine(&cvv, &squares, 1.0 / self.problem.noise);
        let covariance = product(&cvv, &solve(&precision, &cvv));
        Gaussians {
            mean,
            covariances: vec![covariance; self.problem.outputs()],
        }
    }

    /// The optimal `q(u)` for a given `q(v_⊥)`.
    pub fn optimal_inducing(&self, orthogonal: &Gaussians) -> Gaussians {
        let (problem, kuu) = (&self.problem, self.kuu());
        let kuf = problem.covariance(&problem.z, &problem.x);
        let squares = product(&kuf, &transpose(&kuf));
        let precision = combine(&kuu, &squares, 1.0 / problem.noise);
        let known = product(
            &transpose(&self.orthogonal_weights(&problem.x)),
            &orthogonal.mean,
        );
        let projected = product(&kuf, &combine(&problem.y, &known, -1.0));
        let mean = product(&kuu, &solve(&precision, &projected));
        let covariance = product(&kuu, &solve(&precision, &kuu));
        Gaussians {
            mean: scaled(&mean, 1.0 / problem.noise),
            covariances: vec![covariance; problem.outputs()],
        }
    }

    /// `Σ_p log N(y_p | C_fv C_vv⁻¹m_p, Q_ff + σ²I)`.
    fn log_density(&self, orthogonal: &Gaussians) -> f64 {
        let (problem, noisy) = (&self.problem, self.noisy());
        let weights = transpose(&self.orthogonal_weights(&problem.x));
        let known = product(&weights, &orthogonal.mean);
        let residual = transpose(&combine(&problem.y, &known, -1.0));
        residual.iter().map(|y| log_normal(y, &noisy)).sum()
    }

    /// The collapsed bound for any `q(v_⊥)`, equation 9.
    pub fn bound(&self, orthogonal: &Gaussians) -> f64 {
        let (cff, cvv) = (self.cff(), self.cvv());
        let weights = self.orthogonal_weights(&self.problem.x);
        let spread: f64 = (orthogonal.covariances.iter())
            .map(|covariance| {
                let change = combine(covariance, &cvv, -1.0);
                let explained = product(&transpose(&weights), &product(&change, &weights));
                trace(&cff) + trace(&explained)
            })
            .sum();
        self.log_density(orthogonal) - spread / (2.0 * self.problem.noise) - orthogonal.kl(&cvv)
    }

    /// The bound at the optimum, equation 30.
    pub fn optimal_bound(&self) -> f64 {
        let optimum = self.optimal_orthogonal();
        let r = self.orthogonal_nystrom();
        let shrunk = solve(&add_diagonal(r.clone(), self.problem.noise), &r);
        let spread = trace(&self.cff()) - trace(&product(&r, &shrunk));
        let spread = self.problem.outputs() as f64 * spread / (2.0 * self.problem.noise);
        self.log_density(&optimum) - spread - optimum.kl(&self.cvv())
    }

    /// The collapsed orthogonally decoupled bound, equation 10 at its optimal mean.
    pub fn decoupled_bound(&self) -> f64 {
        let outputs = self.problem.outputs();
        self.bound(&Gaussians {
            covariances: vec![self.cvv(); outputs],
            ..self.optimal_orthogonal()
        })
    }

    /// The bound with the optimal `q(u | f_⊥)`, equation 14.
    pub fn tighter_bound(&self) -> f64 {
        let noisy = self.noisy();
        let penalty = 0.5 * trace(&solve(&noisy, &self.cff()));
        self.problem.log_density(&noisy) - self.problem.outputs() as f64 * penalty
    }

    /// Means, [N, P], and covariances at `x`, equations 37 and 38.
    pub fn prediction(
        &self,
        inducing: &Gaussians,
        orthogonal: &Gaussians,
        x: &Matrix,
    ) -> (Matrix, Vec<Matrix>) {
        let (kuu_kux, cvv_cvx) = (self.weights(x), self.orthogonal_weights(x));
        let mean = combine(
            &product(&transpose(&kuu_kux), &inducing.mean),
            &product(&transpose(&cvv_cvx), &orthogonal.mean),
            1.0,
        );
        let sandwich = |weights: &Matrix, middle: &Matrix| {
            product(&transpose(weights), &product(middle, weights))
        };
        let covariance = |(s_u, s_v): (&Matrix, &Matrix)| {
            let change = combine(s_v, &self.cvv(), -1.0);
            let prior = combine(&self.c(x, x), &sandwich(&kuu_kux, s_u), 1.0);
            combine(&prior, &sandwich(&cvv_cvx, &change), 1.0)
        };
        let pairs = inducing.covariances.iter().zip(&orthogonal.covariances);
        (mean, pairs.map(covariance).collect())
    }

    /// The evidence lower bound for any `q(u)` and `q(v_⊥)`, equation 8.
    pub fn evidence_lower_bound(&self, inducing: &Gaussians, orthogonal: &Gaussians) -> f64 {
        let (problem, noise) = (&self.problem, self.problem.noise);
        let (mean, covariances) = self.prediction(inducing, orthogonal, &problem.x);
        let error = combine(&problem.y, &mean, -1.0).concat();
        let spread: f64 = covariances.iter().map(trace).sum();
        let constant = error.len() as f64 * (2.0 * std::f64::consts::PI * noise).ln();
        let expected = -0.5 * (constant + (dot(&error, &error) + spread) / noise);
        expected - inducing.kl(&self.kuu()) - orthogonal.kl(&self.cvv())
    }
}
