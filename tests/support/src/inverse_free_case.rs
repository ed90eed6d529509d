//! Inverse-free posteriors, small enough for dense formulas.

use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::InducingPoints,
    variational::{AuxiliaryUpdate, InverseFree, LSvgp, MeanForm, PseudoObservations, TraceProbes},
};

use super::{
    Dense, Platform, Random,
    posterior_case::{DIMENSIONS, VARIANCE, covariances},
};

pub const ROWS: usize = 60;
pub const SIZE: usize = 20;
pub const NOISE: f64 = 0.2;

/// The forms of the mean.
pub const FORMS: [MeanForm; 2] = [MeanForm::Plain, MeanForm::Preconditioned];

/// The values of one posterior.
#[derive(Clone)]
pub struct InverseFreeCase {
    pub x: Dense,
    pub z: Dense,
    pub y: Dense,
    /// m̃, [P, M]
    pub mean: Dense,
    /// s̃, M
    pub variances: Vec<f64>,
}

/// The moments of q(f) and a KL divergence by dense formulas.
pub struct Moments {
    /// [N, P]
    pub mean: Dense,
    /// [N, N], the same for all functions
    pub covariance: Dense,
    pub kl: f64,
}

impl InverseFreeCase {
    pub fn new(outputs: usize) -> Self {
        Self::with_seed(outputs, 911)
    }

    pub fn with_seed(outputs: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        Self {
            x: random.points(ROWS, DIMENSIONS),
            z: random.points(SIZE, DIMENSIONS),
            y: random.matrix(ROWS, outputs),
            mean: random.matrix(outputs, SIZE),
            variances: random.uniforms(SIZE, 0.05, 0.5),
        }
    }

    pub fn outputs(&self) -> usize {
        self.mean.rows
    }

    pub fn x(&self, platform: &Platform) -> Tensor<2> {
        platform.matrix(&self.x)
    }

    pub fn y(&self, platform: &Platform) -> Tensor<2> {
        platform.matrix(&self.y)
    }

    fn observations(&self, platform: &Platform, form: MeanForm) -> PseudoObservations {
        PseudoObservations::new(platform.matrix(&self.mean), &self.variances, form)
    }

    fn inducing(&self, platform: &Platform) -> InducingPoints {
        InducingPoints::new(platform.matrix(&self.z))
    }

    pub fn l_svgp(&self, platform: &Platform, form: MeanForm) -> LSvgp {
        LSvgp::new(self.inducing(platform), self.observations(platform, form))
    }

    /// The library's posterior with a lower-triangular L.
    pub fn inverse_free(
        &self,
        platform: &Platform,
        form: MeanForm,
        lower: &Dense,
        update: AuxiliaryUpdate,
    ) -> InverseFree {
        InverseFree::new(
            self.inducing(platform),
            self.observations(platform, form),
            platform.batch(std::slice::from_ref(lower)),
            update,
        )
    }

    /// The library's posterior with the given T. Any root of T serves as L.
    pub fn with_inverse(
        &self,
        platform: &Platform,
        form: MeanForm,
        inverse: &Dense,
    ) -> InverseFree {
        let update = AuxiliaryUpdate::default();
        self.inverse_free(platform, form, &inverse.cholesky(), update)
    }

    pub fn with_probes(
        &self,
        platform: &Platform,
        form: MeanForm,
        inverse: &Dense,
        probes: TraceProbes,
    ) -> InverseFree {
        (self.with_inverse(platform, form, inverse)).with_probes(probes)
    }

    pub fn kuu(&self) -> Dense {
        covariances(&self.z, &self.z)
    }

    pub fn kuf(&self) -> Dense {
        covariances(&self.z, &self.x)
    }

    pub fn noise(&self) -> Dense {
        diagonal(&self.variances)
    }

    /// K̃
    pub fn noisy(&self) -> Dense {
        self.kuu().plus(&self.noise())
    }

    /// `P_R = 2T − TK̃T`.
    pub fn projected(&self, inverse: &Dense) -> Dense {
        let product = inverse.times(&self.noisy()).times(inverse);
        inverse.scaled(2.0).minus(&product)
    }

    /// v, [M, P], for a given preconditioner of the mean.
    pub fn weights(&self, form: MeanForm, preconditioner: &Dense) -> Dense {
        match form {
            MeanForm::Plain => self.mean.transposed(),
            MeanForm::Preconditioned => preconditioner.times(&self.mean.transposed()),
        }
    }

    fn moments(&self, weights: &Dense, reduction: &Dense, kl: f64) -> Moments {
        let kuf = self.kuf();
        let explained = kuf.transposed().times(reduction).times(&kuf);
        Moments {
            mean: kuf.transposed().times(weights),
            covariance: covariances(&self.x, &self.x).minus(&explained),
            kl,
        }
    }

    fn half_sum(&self, weights: &Dense, rest: f64) -> f64 {
        let squares = weights.transposed().times(&self.kuu()).times(weights);
        0.5 * (squares.trace() + self.outputs() as f64 * rest)
    }

    /// L-SVGP by `½(vᵀK_uu·v − tr K̃⁻¹K_uu + log|K̃| − log|S̃|)`.
    pub fn factored(&self, form: MeanForm) -> Moments {
        let (noisy, kuu) = (self.noisy(), self.kuu());
        let inverse = noisy.inverse();
        let weights = self.weights(form, &inverse);
        let rest = noisy.log_determinant() - inverse.times(&kuu).trace() - self.log_noise();
        self.moments(&weights, &inverse, self.half_sum(&weights, rest))
    }

    /// R-SVGP by `½(vᵀK_uu·v − tr P_R·K_uu + tr K̃T − M − log|T| − log|S̃|)`.
    pub fn relaxed(&self, form: MeanForm, inverse: &Dense) -> Moments {
        let projected = self.projected(inverse);
        let weights = self.weights(form, &projected);
        let rest = self.noisy().times(inverse).trace()
            - projected.times(&self.kuu()).trace()
            - SIZE as f64
            - inverse.log_determinant()
            - self.log_noise();
        self.moments(&weights, &projected, self.half_sum(&weights, rest))
    }

    /// Any `q(u) = N(m, S)`, m [M, P], by `½(tr K⁻¹S + mᵀK⁻¹m − M + log|K| − log|S|)`.
    pub fn unwhitened(&self, mean: &Dense, covariance: &Dense) -> Moments {
        let kuu = self.kuu();
        let weights = kuu.solve(mean);
        let inverse = kuu.inverse();
        let rest = inverse.times(covariance).trace() - SIZE as f64 + kuu.log_determinant()
            - covariance.log_determinant();
        let reduction = inverse.times(&kuu.minus(covariance)).times(&inverse);
        self.moments(&weights, &reduction, self.half_sum(&weights, rest))
    }

    pub fn log_noise(&self) -> f64 {
        self.variances.iter().map(|variance| variance.ln()).sum()
    }

    /// The bound with Gaussian noise of variance [`NOISE`].
    pub fn bound(&self, moments: &Moments) -> f64 {
        let mut fit = 0.0;
        for n in 0..self.y.rows {
            for p in 0..self.outputs() {
                let error = self.y[(n, p)] - moments.mean[(n, p)];
                let square = error * error + moments.covariance[(n, n)];
                fit -= 0.5 * ((2.0 * std::f64::consts::PI * NOISE).ln() + square / NOISE);
            }
        }
        fit - moments.kl
    }

    /// `log p(y)`.
    pub fn evidence(&self) -> f64 {
        let identity = Dense::identity(self.x.rows).scaled(NOISE);
        let covariance = covariances(&self.x, &self.x).plus(&identity);
        let squares = self
            .y
            .transposed()
            .times(&covariance.solve(&self.y))
            .trace();
        let constant = self.x.rows as f64 * (2.0 * std::f64::consts::PI).ln();
        let outputs = self.outputs() as f64;
        -0.5 * (squares + outputs * (covariance.log_determinant() + constant))
    }
}

pub fn diagonal(values: &[f64]) -> Dense {
    let entry = |i, j| if i == j { values[i] } else { 0.0 };
    Dense::from_function(values.len(), values.len(), entry)
}

/// Positive-definite matrices at different distances from an inverse.
pub fn inverses(exact: &Dense, random: &mut Random) -> Vec<Dense> {
    let root = exact.cholesky();
    let mut all: Vec<Dense> = [1e-3, 0.1, 0.5]
        .map(|distance| {
            let noise = random.matrix(exact.rows, exact.rows).scaled(distance / 8.0);
            let near = Dense::identity(exact.rows).plus(&noise);
            let moved = root.times(&near);
            moved.times(&moved.transposed())
        })
        .into();
    all.push(random.positive_definite(exact.rows));
    all.push(Dense::identity(exact.rows).scaled(1e-3 / VARIANCE));
    all
}
