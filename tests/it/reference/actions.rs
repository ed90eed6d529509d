//! Computation-aware regression with dense algebra (arXiv:2411.01036), and the library's model of
//! the same problem.

use burn::tensor::{DType, Device, Tensor};
use burn_gp_core::{
    inducing::AnyInducing,
    inference::{
        ActionLoss, ActionPolicy, Collapsed, ComputationAware, DenseActions, Iterated,
        IterationRule, Iterations, Regression,
    },
    kernels::StationaryKernel,
    likelihoods::Gaussian,
    means::ZeroMean,
    ops::{Jitter, Stationary},
    process::Process,
};

use super::{
    Matrix, Random, add_diagonal, assert_all_close, combine, log_normal, product, scalar, solve,
    tensor, transpose, values,
};

/// A 2-D regression problem with its dense solution.
pub struct Case {
    pub x: Matrix,
    pub y: Matrix,
    pub new_x: Matrix,
    pub noise: f64,
    pub variance: f64,
    pub lengthscales: Vec<f64>,
}

impl Case {
    pub fn new(rows: usize, dimensions: usize, noise: f64) -> Self {
        let mut random = Random(3 * rows as u64 + 1);
        let x = random.uniform_rows(rows, dimensions, -2.0, 2.0);
        let y = x.iter().map(|point| {
            let total: f64 = point.iter().sum();
            vec![(2.0 * total).sin() + noise.sqrt() * random.normal()]
        });
        Self {
            y: y.collect(),
            new_x: random.uniform_rows(7, dimensions, -3.0, 3.0),
            x,
            noise,
            variance: 1.4,
            lengthscales: (0..dimensions).map(|d| 0.7 + 0.2 * d as f64).collect(),
        }
    }

    /// Matérn-3/2 (Rasmussen and Williams, 2006, eq. 4.17).
    pub fn covariance(&self, a: &Matrix, b: &Matrix) -> Matrix {
        let k = |a: &Vec<f64>, b: &Vec<f64>| {
            let scaled = a.iter().zip(b).zip(&self.lengthscales);
            let square: f64 = scaled.map(|((a, b), l)| ((a - b) / l).powi(2)).sum();
            let s = (3.0 * square).sqrt();
            self.variance * (1.0 + s) * (-s).exp()
        };
        a.iter()
            .map(|a| b.iter().map(|b| k(a, b)).collect())
            .collect()
    }

    /// `K̂ = K + σ²I`
    pub fn noisy(&self) -> Matrix {
        add_diagonal(self.covariance(&self.x, &self.x), self.noise)
    }

    pub fn y(&self) -> Vec<f64> {
        self.y.concat()
    }

    pub fn negative_evidence(&self) -> f64 {
        -log_normal(&self.y(), &self.noisy())
    }

    pub fn actions(&self, count: usize, seed: u64) -> Matrix {
        let mut random = Random(seed);
        let row = |_| (0..count).map(|_| random.normal()).collect();
        (0..self.x.len()).map(row).collect()
    }

    /// `C = S(SᵀK̂S)⁻¹Sᵀ`
    pub fn precision(&self, actions: &Matrix) -> Matrix {
        let inner = product(&transpose(actions), &product(&self.noisy(), actions));
        product(actions, &solve(&inner, &transpose(actions)))
    }

    /// The mean and the covariance at `at` of the posterior given `Sᵀy`.
    pub fn posterior(&self, actions: &Matrix, at: &Matrix) -> (Vec<f64>, Matrix) {
        let cross = self.covariance(at, &self.x);
        let gain = product(&cross, &self.precision(actions));
        let explained = product(&gain, &transpose(&cross));
        let mean = product(&gain, &self.y).concat();
        (mean, combine(&self.covariance(at, at), &explained, -1.0))
    }

    pub fn exact(&self, at: &Matrix) -> Matrix {
        let cross = self.covariance(at, &self.x);
        let explained = product(&cross, &solve(&self.noisy(), &transpose(&cross)));
        combine(&self.covariance(at, at), &explained, -1.0)
    }

    pub fn exact_mean(&self, at: &Matrix) -> Vec<f64> {
        product(
            &self.covariance(at, &self.x),
            &solve(&self.noisy(), &self.y),
        )
        .concat()
    }

    pub fn kernel(&self, options: (&Device, DType)) -> StationaryKernel {
        let kind = Stationary::Matern32;
        StationaryKernel::new(kind, &self.lengthscales, self.variance, options)
    }

    pub fn model<A: ActionPolicy>(
        &self,
        policy: A,
        options: (&Device, DType),
    ) -> ComputationAware<StationaryKernel, A> {
        let likelihood = Gaussian::new(self.noise, options);
        ComputationAware::new(self.kernel(options), ZeroMean::new(1), likelihood, policy)
    }

    /// The library's collapsed model with given inducing variables, without jitter.
    pub fn collapsed(
        &self,
        inducing: impl Into<AnyInducing>,
        options: (&Device, DType),
    ) -> Collapsed {
        let likelihood = Gaussian::new(self.noise, options);
        let (kernel, mean) = (self.kernel(options), ZeroMean::new(1));
        Collapsed::new(kernel, mean, likelihood, inducing, Jitter::NONE)
    }

    pub fn loss<A: ActionPolicy>(
        &self,
        policy: A,
        loss: ActionLoss,
        options: (&Device, DType),
    ) -> f64 {
        let model = self.model(policy, options).with_loss(loss);
        let (x, y) = (tensor(&self.x, options), tensor(&self.y, options));
        -scalar(model.full_objective(x, y).unwrap())
    }

    /// The library's predictive mean and covariance at the new inputs.
    pub fn predicted<A: ActionPolicy>(
        &self,
        policy: A,
        options: (&Device, DType),
    ) -> (Vec<f64>, Vec<f64>) {
        let (x, y) = (tensor(&self.x, options), tensor(&self.y, options));
        let process = self.model(policy, options).condition(x, y).unwrap();
        let new_x = tensor(&self.new_x, options);
        let joint = process.joint(new_x.clone());
        let variance = values(process.marginals(new_x).variance);
        let covariance = values(joint.covariance);
        let count = self.new_x.len();
        let diagonal: Vec<f64> = (0..count).map(|i| covariance[i * count + i]).collect();
        assert_all_close(&variance, &diagonal, 1e-10, "marginals of the joint");
        (values(joint.mean), covariance)
    }

    pub fn iterate(
        &self,
        rule: IterationRule,
        count: usize,
        options: (&Device, DType),
    ) -> Iterated {
        let problem = Regression {
            kernel: &self.kernel(options),
            noise: &Tensor::from_data([self.noise], options),
            inputs: &tensor(&self.x, options),
            residual: &tensor(&self.y, options),
        };
        Iterations::new(rule, count, 0.0).run(&problem).unwrap()
    }
}

pub fn dense(actions: &Matrix, options: (&Device, DType)) -> DenseActions {
    DenseActions::new(tensor(actions, options))
}

/// Orthonormal columns by two passes of Gram–Schmidt.
pub fn orthonormal(actions: &Matrix) -> Matrix {
    let mut columns = transpose(actions);
    for j in 0..columns.len() {
        for _ in 0..2 {
            for i in 0..j {
                let dot: f64 = columns[i].iter().zip(&columns[j]).map(|(a, b)| a * b).sum();
                let earlier = columns[i].clone();
                for (value, earlier) in columns[j].iter_mut().zip(earlier) {
                    *value -= dot * earlier;
                }
            }
            let norm = columns[j].iter().map(|v| v * v).sum::<f64>().sqrt();
            columns[j].iter_mut().for_each(|value| *value /= norm);
        }
    }
    transpose(&columns)
}
