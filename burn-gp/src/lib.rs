//! Gaussian processes for the [burn](https://burn.dev) deep-learning framework: exact, sparse, deep,
//! convolutional and computation-aware, on any burn device, in single and in double precision.
//!
//! # Regression
//!
//! Fit a kernel to data and predict with uncertainty:
//!
//! ```
//! use burn_gp::prelude::*;
//!
//! # fn main() -> Result<(), burn_gp::Error> {
//! let x: Vec<f64> = (0..50).map(|i| f64::from(i) / 5.0).collect();
//! let y: Vec<f64> = x.iter().map(|x| 20.0 + 3.0 * x.sin()).collect();
//!
//! let gp = ExactConfig::new(StationaryConfig::matern52()).fit(&x, &y, &Fit::new())?;
//! let predicted = gp.predict([2.5, 30.0])?;
//! println!("{predicted}"); // a line for each: mean ± standard deviation
//! # let mean = &predicted.predictions().mean;
//! # assert!((mean[0] - (20.0 + 3.0 * 2.5_f64.sin())).abs() < 0.1, "{mean:?}");
//! # let (lower, upper) = predicted.interval(0.95)?;
//! # assert_eq!((lower.dims(), upper.dims()), ([2, 1], [2, 1]));
//! # Ok(())
//! # }
//! ```
//!
//! Inputs and targets are tensors of any floating-point or integer type on any device, or slices,
//! arrays, vectors and vectors of rows ([`Matrix`]). They are standardized for the model, and
//! predictions come back in their units ([`Fit::scale_inputs`]). [`FittedPredictions`] has means, variances,
//! quantiles, intervals, class probabilities, log densities and draws.
//!
//! # Classification
//!
//! A sparse variational Gaussian process takes any likelihood and any number of rows, in mini-batches:
//!
//! ```
//! use burn_gp::prelude::*;
//!
//! # fn main() -> Result<(), burn_gp::Error> {
//! let device = Device::default();
//! let x = Tensor::<2>::random([300, 2], Distribution::Uniform(-1.0, 1.0), &device);
//! let labels = (x.clone().sum_dim(1).greater_elem(0.0)).int();
//!
//! let gp = SvgpConfig::new(StationaryConfig::rbf(), SoftmaxConfig::new(2))
//!     .with_inducing(32)
//!     .fit(&x, &labels, &Fit::adam(0.05).epochs(40).batch_size(100))?;
//! let predicted = gp.predict([[0.8, 0.8], [-0.8, -0.8]])?;
//! let probabilities = predicted.probabilities(); // [N, C]
//! # assert_eq!(probabilities.map(|p| p.dims()), Some([2, 2]));
//! # let labels: Option<Vec<i64>> = predicted.labels().map(|l| l.into_data().iter().collect());
//! # assert_eq!(labels, Some(vec![1, 0]));
//! # Ok(())
//! # }
//! ```
//!
//! # Saving and serving
//!
//! A fitted model is saved to a folder with its configuration and scaling. It can be loaded on any
//! device and in another precision:
//!
//! ```
//! use burn_gp::prelude::*;
//!
//! # fn main() -> Result<(), burn_gp::Error> {
//! # let x: Vec<f64> = (0..60).map(|i| f64::from(i) / 9.0).collect();
//! # let y: Vec<f64> = x.iter().map(|x| x.cos()).collect();
//! # let folder = std::env::temp_dir().join("burn-gp-served");
//! let gp = SgprConfig::new(StationaryConfig::rbf()).fit(&x, &y, &Fit::new().steps(20))?;
//! gp.save(&folder)?;
//!
//! let served = Fitted::load(&folder, (&Device::default(), DType::F32))?;
//! let predicted = served.predict([1.0, 2.0])?;
//! let (lower, upper) = predicted.interval(0.9)?;
//! # assert_eq!((lower.dims(), upper.dtype()), ([2, 1], DType::F32));
//! # std::fs::remove_dir_all(folder).ok();
//! # Ok(())
//! # }
//! ```
//!
//! # A layer of a network
//!
//! [`GpLayer`](layers::GpLayer) is a burn module. From its output, the likelihood's
//! [`negative_elbo`](likelihoods::Likelihood::negative_elbo) computes the loss for any training
//! loop:
//!
//! ```
//! use burn::nn::LinearConfig;
//! use burn_gp::layers::{GpLayerConfig, Layer};
//! use burn_gp::likelihoods::{GaussianConfig, Likelihood};
//! use burn_gp::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::default().autodiff();
//! let body = LinearConfig::new(5, 2).init(&device);
//! let head = GpLayerConfig::new(2, 1).with_inducing(16).init(&device);
//! let likelihood = GaussianConfig::new(0.1).init(&device);
//!
//! # let (x, y) = (Tensor::<2>::ones([8, 5], &device), Tensor::<2>::ones([8, 1], &device));
//! let values = head.evaluate(body.forward(x))?;
//! let loss = likelihood.negative_elbo(y, values.marginals, values.kl, 8); // per row of 8
//! let gradients = loss.backward();
//! # assert!(body.weight.val().grad(&gradients).is_some());
//! # Ok(())
//! # }
//! ```
//!
//! # The components
//!
//! ```text
//!   kernels    means    inducing
//!      └─────────┼─────────┘
//!                ▼
//!   variational (q(u), KL)  or  inference (all data at once)
//!                ▼
//!   process: means and variances at new inputs ◄──► layers: stacks, and networks in front
//!                ▼
//!   likelihoods: densities, quantiles and draws of targets
//!                ▼
//!   a model:  SvgpConfig, … ──init──► Model ──training──► AnyTrained ──► Predictor
//!                ▼
//!   in one call:  config.fit(x, y, &Fit) ──► Fitted ──predict──► FittedPredictions
//!                                              └──── save, load
//! ```
//!
//! | to | go to |
//! |---|---|
//! | choose a model | [`ExactConfig`] up to some thousand rows, [`SgprConfig`] and [`SvgpConfig`] beyond, [`ComputationAwareConfig`] and [`ConjugateGradientsConfig`] for many rows without inducing points, [`VecchiaConfig`] for many rows of few inputs, such as locations, [`VecchiaLaplaceConfig`] for classes and counts there, [`VnngpConfig`] for very many of them on mini-batches, [`VifConfig`] for smooth functions of several inputs, [`MarkovConfig`] for series over time, [`MarkovVariationalConfig`] for classes and counts over time, [`DeepGpConfig`] for layers and images, [`DbkConfig`], [`SvdbkConfig`], [`LastLayerConfig`] and [`DeepKernelConfig`] for networks |
//! | choose a kernel | [`kernels`]: also sums, products and kernels of kernels |
//! | choose a likelihood | [`likelihoods`]: numbers, labels, counts, positive numbers, fractions |
//! | choose a posterior | [`variational`]: whitened, orthogonal, inverse-free, … |
//! | set, bound, fix or give priors to parameters | [`parameter`] |
//! | train step by step, with callbacks or in burn's learner | [`training`] |
//! | put a Gaussian process into a burn network | [`layers`] |
//! | find latent inputs of rows of measurements | [`GplvmConfig`] |
//! | forecast series over time, and take them apart | [`forecasting`] |
//! | draw functions | [`sampling`] |
//! | work with covariance matrices | [`ops`] |
//! | add a kernel, a likelihood or a posterior of your own | [`custom`] |
//! | match on errors | [`Error`] |
//! | read short programs | [the examples](https://github.com/burn-gp/burn-gp/tree/main/burn-gp/examples) |
//!
//! [`burn`] and [`rand`] are reexported in the versions that this crate uses.
//!
//! # Features
//!
//! | feature | content |
//! |---|---|
//! | `flex` (default) | the CPU, in single and double precision |
//! | `ndarray` | the CPU, with another backend of burn |
//! | `wgpu`, `vulkan`, `metal` | GPUs through WGSL, SPIR-V and Metal, in single precision |
//! | `cuda`, `rocm` | GPUs through CUDA and HIP |
//! | `fusion`, `autotune` | burn's features of these names; needed if your crate enables burn's |
//! | `arrays` | arrays of `ndarray` as inputs and targets |
//! | `learner` | `MiniBatchLearner`: mini-batch training in the learner of burn-train |
//!
//! Several backends can be compiled in together. The device of the data decides where a computation
//! runs.

#![deny(missing_docs)]

pub mod prelude;

pub use burn;
pub use burn_gp_core::*;
pub use burn_gp_models::*;
pub use rand;

/// The README's examples, compiled and run as documentation tests.
#[doc = include_str!("../README.md")]
#[cfg(doctest)]
pub struct Readme;

/// The chapters of the guide, whose snippets are compiled and run as documentation tests.
#[cfg(doctest)]
mod guide {
    macro_rules! chapters {
        ($($name:ident: $file:literal),+ $(,)?) => {
            $(
                #[doc = include_str!(concat!("../../docs/guide/src/", $file))]
                pub struct $name;
            )+
        };
    }

    chapters! {
        Start: "start.md",
        Models: "models.md",
        Maps: "maps.md",
        TimeSeries: "time_series.md",
        SeveralOutputs: "several_outputs.md",
        ManyDataSets: "many_data_sets.md",
        Latent: "latent.md",
        NewRows: "new_rows.md",
        Shapes: "shapes.md",
        Numerics: "numerics.md",
        Training: "training.md",
        Images: "images.md",
        Deep: "deep.md",
        Uncertainty: "uncertainty.md",
        Devices: "devices.md",
        Peers: "peers.md",
        Papers: "papers.md",
        Sharp: "sharp.md",
        Absent: "absent.md",
    }
}
