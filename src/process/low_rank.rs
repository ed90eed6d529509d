//! Functions given by a posterior over the weights of features.

use burn::tensor::Tensor;
use rand::{SeedableRng, rngs::ChaCha8Rng};

use super::{EqualInputs, draw_at_distinct, residual_variance};
use crate::{
    kernels::FeatureMap,
    ops::{ExactMatmul, NotPositiveDefinite},
    process::{Joint, Marginals, Process, WhitenedCovariance, dummy_row_if_empty},
    random::normals,
};

/// Functions `f_p(x) = w_pᵀφ(x) + g_p(x)` with Gaussian weights and functions g of variance c, whose
/// values at different inputs are independent: `μ = φᵀm`, `Σ = φᵀSφ + c·[x = x′]`.
#[derive(Clone, Debug)]
pub struct LowRankProcess<F> {
    map: F,
    /// m, [P, R]
    mean: Tensor<2>,
    spread: WhitenedCovariance,
    level: Option<Tensor<1>>,
}

impl<F: FeatureMap> LowRankProcess<F> {
    /// Creates functions with features `map`, the means of the weights `mean`, `[P, R]`, and their
    /// uncertainty `spread`.
    ///
    /// The variance c is zero if `level` is `None`. Otherwise it is the residual variance of the
    /// kernel that the features approximate. If the features define the kernel, c raises the prior
    /// variance to `level`, `[1]`.
    pub fn new(
        map: F,
        mean: Tensor<2>,
        spread: WhitenedCovariance,
        level: Option<Tensor<1>>,
    ) -> Self {
        Self {
            map,
            mean,
            spread,
            level,
        }
    }

    /// The features.
    pub fn map(&self) -> &F {
        &self.map
    }

    /// The means of the weights, `[P, R]`.
    pub fn weights(&self) -> Tensor<2> {
        self.mean.clone()
    }

    /// The uncertainty of the weights.
    pub fn spread(&self) -> &WhitenedCovariance {
        &self.spread
    }

    /// The level to which the prior variance is raised, `[1]`.
    pub fn level(&self) -> Option<Tensor<1>> {
        self.level.clone()
    }

    /// The features in the type of the weights, [R, N], and c, `[N]`.
    fn features(&self, x: Tensor<2>) -> (Tensor<2>, Option<Tensor<1>>) {
        let features = self.map.features(x.clone());
        let residual = (self.level.clone())
            .map(|level| residual_variance(&self.map, x, features.clone(), Some(level)));
        (features.cast(self.mean.dtype()).transpose(), residual)
    }
}

impl<F: FeatureMap> Process for LowRankProcess<F> {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        let dtype = x.dtype();
        let (features, residual) = self.features(x);
        let (mean, variance) = self.spread.project(&self.mean, features);
        let variance = variance.cast(dtype);
        Marginals {
            mean: mean.cast(dtype),
            variance: match residual {
                Some(residual) => variance + residual.unsqueeze_dim(1),
                None => variance,
            },
        }
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let dtype = x.dtype();
        let equal = (self.level.is_some())
            .then(|| EqualInputs::among(&x))
            .flatten();
        let (features, residual) = self.features(x);
        let mean = features.clone().transpose();
        let mean = mean.exact_matmul(self.mean.clone().transpose()).cast(dtype);
        let [rows, outputs] = mean.dims();
        let covariance = self
            .spread
            .covariance(outputs, features.unsqueeze())
            .cast(dtype);
        let covariance = match residual {
            Some(residual) => {
                let same = Tensor::<2>::eye(rows, &mean.device()).cast(dtype);
                let (same, residual) = match equal {
                    Some(equal) => {
                        let first = equal.first(&mean);
                        let same = same.select(0, first.clone()).select(1, first.clone());
                        (same, residual.select(0, first))
                    }
                    None => (same, residual),
                };
                covariance + (same * residual.unsqueeze()).unsqueeze()
            }
            None => covariance,
        };
        Joint { mean, covariance }
    }

    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let (dtype, [outputs, _], [rows, _]) = (x.dtype(), self.mean.dims(), x.dims());
        if rows == 0 || samples == 0 {
            return Ok(Tensor::zeros(
                [samples, outputs, rows],
                (&x.device(), dtype),
            ));
        }
        draw_at_distinct(x, |x| {
            let [rows, _] = x.dims();
            let (features, residual) = self.features(x); // [R, N]
            let [_, rank] = self.mean.dims();
            let options = (&self.mean.device(), self.mean.dtype());
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let mut normals = |shape: [usize; 3]| normals(shape, &mut random, options);
            let weights = (self.spread).draw(&self.mean, normals([samples, outputs, rank]));
            let weights = weights.reshape([samples * outputs, rank]);
            let draws = weights.exact_matmul(features).cast(dtype);
            let draws = draws.reshape([samples, outputs, rows]);
            Ok(match residual {
                Some(residual) => {
                    let noise = normals([samples, outputs, rows]).cast(dtype);
                    draws + noise * residual.sqrt().unsqueeze()
                }
                None => draws,
            })
        })
    }
}
