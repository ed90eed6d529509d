//! Layers that are applied to every patch of an image.

use burn::{module::Module, tensor::Tensor};

use super::{AnyLayer, Layer};
use crate::{
    ops::NotPositiveDefinite,
    patches::PatchGrid,
    process::{Joint, Marginals, Process, dummy_row_if_empty},
    variational::Evaluation,
};

/// Applies the functions of a layer to every patch of an image: `f_pc(x) = g_c(x^[p])`. The result
/// is a feature map with one channel per function, C in total, stored patch after patch with the
/// channels next to each other (K. Blomqvist, S. Kaski and M. Heinonen, *Deep Convolutional
/// Gaussian Processes*, arXiv:1810.03052).
///
/// Draws of the map from its marginals ignore the correlations between patches, just as draws from
/// any layer ignore the correlations between inputs (V. Dutordoir, M. van der Wilk, A. Artemev and
/// J. Hensman, *Bayesian Image Classification with Deep Convolutional Gaussian Processes*,
/// arXiv:1902.05888).
///
/// ```
/// use burn::tensor::{DType, Device, Tensor};
/// use burn_gp_core::{
///     inducing::InducingPoints,
///     kernels::StationaryConfig,
///     layers::{GpLayer, Layer, PatchLayer},
///     means::ZeroMean,
///     ops::{Jitter, Stationary},
///     patches::{ImageShape, PatchGrid},
///     process::{CovarianceShape, VariationalGaussian},
///     variational::Whitened,
/// };
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::default();
/// let layer = |functions| {
///     let kernel = StationaryConfig::new(Stationary::Matern52).init(2, &device);
///     let points = Tensor::from_data([[0.0, 0.0], [1.0, 1.0]], &device);
///     let distribution =
///         VariationalGaussian::standard(2, functions, CovarianceShape::Full, &device);
///     let jitter = Jitter::for_precision(DType::F32);
///     let posterior = Whitened::new(InducingPoints::new(points), distribution, jitter);
///     GpLayer::new(kernel, ZeroMean::new(functions), posterior)
/// };
/// // Images of 3×1 pixels with two channels: three patches of one pixel.
/// let grid = PatchGrid::new(ImageShape::new(3, 1, 2), 1, 1)?;
/// let maps = PatchLayer::new(layer(4), grid).evaluate(Tensor::ones([5, 6], &device))?;
/// assert_eq!(maps.marginals.mean.dims(), [5, 12]);
/// # Ok(())
/// # }
/// ```
#[derive(Module, Debug)]
pub struct PatchLayer {
    layer: AnyLayer,
    #[module(skip)]
    grid: PatchGrid,
}

/// The process of a [`PatchLayer`].
struct PatchProcess {
    process: Box<dyn Process + Send + Sync>,
    grid: PatchGrid,
}

impl PatchLayer {
    /// Applies the functions of `layer`, whose inputs are patches, to every patch of `grid`.
    pub fn new(layer: impl Into<AnyLayer>, grid: PatchGrid) -> Self {
        Self {
            layer: layer.into(),
            grid,
        }
    }

    /// The layer that is applied to each patch.
    pub fn layer(&self) -> &AnyLayer {
        &self.layer
    }
}

/// Reshapes one row per patch, `[N·P, C]`, to `[N, P·C]`.
fn as_map(rows: Tensor<2>, patches: usize) -> Tensor<2> {
    let [count, functions] = rows.dims();
    rows.reshape([count / patches, patches * functions])
}

fn maps(marginals: Marginals, grid: &PatchGrid) -> Marginals {
    Marginals {
        mean: as_map(marginals.mean, grid.count()),
        variance: as_map(marginals.variance, grid.count()),
    }
}

impl Layer for PatchLayer {
    fn evaluate(&self, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        let Evaluation { marginals, kl } = self.layer.evaluate(self.grid.extract(x))?;
        Ok(Evaluation {
            marginals: maps(marginals, &self.grid),
            kl,
        })
    }

    fn condition(&self) -> Result<Box<dyn Process + Send + Sync>, NotPositiveDefinite> {
        Ok(Box::new(PatchProcess {
            process: self.layer.condition()?,
            grid: self.grid,
        }))
    }

    fn rows_per_input(&self) -> usize {
        self.grid.count() * self.layer.rows_per_input()
    }

    fn after_step(&mut self) {
        self.layer.after_step();
    }

    fn synchronize(&mut self) {
        self.layer.synchronize();
    }

    fn inducing_inputs(&self) -> Vec<Tensor<2>> {
        self.layer.inducing_inputs()
    }

    fn grid(&self) -> Option<&PatchGrid> {
        Some(&self.grid)
    }
}

impl Process for PatchProcess {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.marginals(one).at_none();
        }
        maps(self.process.marginals(self.grid.extract(x)), &self.grid)
    }

    fn rows_per_input(&self) -> usize {
        self.grid.count() * self.process.rows_per_input()
    }

    /// The covariances are those of each output, which is one function at one patch. Memory grows
    /// with `(N·P)²`.
    fn joint(&self, x: Tensor<2>) -> Joint {
        if let Some(one) = dummy_row_if_empty(&x) {
            return self.joint(one).at_none();
        }
        let ([count, _], patches) = (x.dims(), self.grid.count());
        let Joint { mean, covariance } = self.process.joint(self.grid.extract(x)); // [C, N·P, N·P]
        let [functions, _, _] = covariance.dims();
        let blocks = covariance.reshape([functions, count, patches, count, patches]);
        let same = (0..patches).map(|patch| {
            let rows = blocks.clone().narrow(2, patch, 1).narrow(4, patch, 1);
            rows.reshape([functions, count, count])
        });
        Joint {
            mean: as_map(mean, patches),
            covariance: Tensor::cat(same.collect(), 0), // [P·C, N, N]
        }
    }

    /// Draws the functions jointly at all patches.
    fn sample(
        &self,
        x: Tensor<2>,
        samples: usize,
        seed: u64,
    ) -> Result<Tensor<3>, NotPositiveDefinite> {
        let ([count, _], patches) = (x.dims(), self.grid.count());
        if count == 0 || samples == 0 {
            let [_, functions] = self.marginals(x.clone()).mean.dims();
            let options = (&x.device(), x.dtype());
            return Ok(Tensor::zeros([samples, functions, count], options));
        }
        let draws = (self.process).sample(self.grid.extract(x), samples, seed)?; // [S, C, N·P]
        let [_, functions, _] = draws.dims();
        let draws = draws.reshape([samples, functions, count, patches]);
        let draws = draws.permute([0, 3, 1, 2]); // [S, P, C, N]
        Ok(draws.reshape([samples, patches * functions, count]))
    }
}
