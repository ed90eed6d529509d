//! Posteriors with several sets of inducing points, small enough for dense formulas.

use burn::tensor::Tensor;
use burn_gp_core::{
    inducing::InducingPoints,
    ops::Jitter,
    process::{CovarianceShape, VariationalGaussian},
    variational::{
        AnyPosterior, InducingSet, OrthogonallyDecoupled, OrthogonallyDecoupledConfig,
        Parameterization, PosteriorConfig, SolveGp, SolveGpConfig,
    },
};

use super::{
    Dense, Platform, Random,
    posterior_case::{Case, DIMENSIONS, POINTS, VARIANCE, covariances},
};

/// The configuration of [`SolveGp`].
pub fn solve(covariance: CovarianceShape, parameterization: Parameterization) -> PosteriorConfig {
    PosteriorConfig::from(SolveGpConfig {
        covariance,
        parameterization,
    })
}

/// The configuration of [`OrthogonallyDecoupled`] with all columns.
pub fn odvgp(covariance: CovarianceShape, parameterization: Parameterization) -> PosteriorConfig {
    PosteriorConfig::from(OrthogonallyDecoupledConfig {
        covariance,
        parameterization,
        columns: None,
        seed: 0,
    })
}

/// Inducing points and a distribution over the function values there.
#[derive(Clone)]
pub struct Set {
    pub points: Dense,
    /// [P, M]
    pub mean: Dense,
    /// P lower triangles
    pub scale: Vec<Dense>,
}

impl Set {
    pub fn inducing(&self, platform: &Platform) -> InducingPoints {
        InducingPoints::new(platform.matrix(&self.points))
    }

    pub fn distribution(&self, platform: &Platform) -> VariationalGaussian {
        VariationalGaussian::full(platform.matrix(&self.mean), platform.batch(&self.scale))
    }

    fn in_posterior(&self, platform: &Platform) -> InducingSet {
        InducingSet::new(self.inducing(platform), self.distribution(platform))
    }

    /// The set with `L·m` and `L·W`.
    fn colored(&self, factor: &Dense) -> Self {
        Self {
            points: self.points.clone(),
            mean: self.mean.times(&factor.transposed()),
            scale: self.scale.iter().map(|w| factor.times(w)).collect(),
        }
    }
}

/// The values of one posterior, in whitened coordinates.
pub struct OrthogonalCase {
    pub x: Dense,
    pub y: Dense,
    pub sets: Vec<Set>,
}

impl OrthogonalCase {
    pub fn new(sizes: &[usize], outputs: usize) -> Self {
        let mut random = Random::new(821);
        let (x, y) = (
            random.points(POINTS, DIMENSIONS),
            random.matrix(POINTS, outputs),
        );
        let set = |&size: &usize| Set {
            points: random.points(size, DIMENSIONS),
            mean: random.matrix(outputs, size),
            scale: (0..outputs)
                .map(|_| random.lower_triangle(size).scaled(0.6))
                .collect(),
        };
        let sets = sizes.iter().map(set).collect();
        Self { x, y, sets }
    }

    pub fn x(&self, platform: &Platform) -> Tensor<2> {
        platform.matrix(&self.x)
    }

    pub fn outputs(&self) -> usize {
        self.y.columns
    }

    /// The same values as a single set with block-diagonal covariances.
    pub fn union(&self) -> Case {
        let sizes: Vec<usize> = self.sets.iter().map(|set| set.points.rows).collect();
        let places: Vec<(usize, usize)> = (sizes.iter().enumerate())
            .flat_map(|(set, &size)| (0..size).map(move |row| (set, row)))
            .collect();
        let (size, outputs) = (places.len(), self.outputs());
        let entry = |p: usize, (s, i): (usize, usize), (t, j): (usize, usize)| {
            let scale = &self.sets[s].scale[p];
            if s == t { scale[(i, j)] } else { 0.0 }
        };
        Case {
            x: self.x.clone(),
            z: Dense::from_function(size, DIMENSIONS, |row, d| {
                let (set, row) = places[row];
                self.sets[set].points[(row, d)]
            }),
            mean: Dense::from_function(outputs, size, |p, row| {
                let (set, row) = places[row];
                self.sets[set].mean[(p, row)]
            }),
            scale: (0..outputs)
                .map(|p| Dense::from_function(size, size, |i, j| entry(p, places[i], places[j])))
                .collect(),
            y: self.y.clone(),
        }
    }

    pub fn whitened(&self, platform: &Platform) -> SolveGp {
        let sets = self.sets.iter().map(|set| set.in_posterior(platform));
        SolveGp::new(sets.collect(), Parameterization::Whitened, Jitter::INDUCING)
    }

    /// The same distributions over the variables themselves: `m → L_tt·m`, `W → L_tt·W`, where L_tt
    /// are the diagonal blocks of the factor of all sets.
    pub fn unwhitened(&self, platform: &Platform) -> SolveGp {
        let factor = self.union().kuu().cholesky();
        let mut first = 0;
        let sets = self.sets.iter().map(|set| {
            let size = set.points.rows;
            let block = Dense::from_function(size, size, |i, j| factor[(first + i, first + j)]);
            first += size;
            set.colored(&block).in_posterior(platform)
        });
        SolveGp::new(
            sets.collect(),
            Parameterization::Unwhitened,
            Jitter::INDUCING,
        )
    }

    /// The first set. The second set expands the mean, with its mean as weights.
    pub fn decoupled(
        &self,
        platform: &Platform,
        parameterization: Parameterization,
    ) -> OrthogonallyDecoupled {
        let [first, second] = [&self.sets[0], &self.sets[1]];
        let gaussian = match parameterization {
            Parameterization::Whitened => first.distribution(platform),
            Parameterization::Unwhitened => {
                let jitter = Dense::identity(first.points.rows).scaled(1e-6 * VARIANCE);
                let kuu = covariances(&first.points, &first.points).plus(&jitter);
                first.colored(&kuu.cholesky()).distribution(platform)
            }
        };
        OrthogonallyDecoupled::new(
            (first.inducing(platform), gaussian),
            (second.inducing(platform), platform.matrix(&second.mean)),
            parameterization,
            Jitter::INDUCING,
        )
    }

    /// A posterior of each kind with several sets.
    pub fn posteriors(&self, platform: &Platform) -> Vec<(&'static str, AnyPosterior)> {
        vec![
            (
                "solve, whitened",
                AnyPosterior::from(self.whitened(platform)),
            ),
            (
                "solve, unwhitened",
                AnyPosterior::from(self.unwhitened(platform)),
            ),
            (
                "odvgp, whitened",
                AnyPosterior::from(self.decoupled(platform, Parameterization::Whitened)),
            ),
            (
                "odvgp, unwhitened",
                AnyPosterior::from(self.decoupled(platform, Parameterization::Unwhitened)),
            ),
        ]
    }
}
