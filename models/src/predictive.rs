//! What predicts with a trained model.

use burn_gp::{
    features::AnyNetwork,
    inducing::InducingPoints,
    inference::{FullBatch, LowRankProcess},
    kernels::{AnyKernel, Basis},
    layers::{AnyLayerProcess, EitherPredictive, StackProcess},
    likelihoods::{AnyLikelihood, Gaussian},
    means::AnyMean,
    multi_output::{Functions, Kernels},
    ops::NotPositiveDefinite,
    variational::{AnyPosterior, EitherProcess, Posterior, WithMean},
};

use crate::{
    AnyComputationAware, AnyConjugateGradients, TrainedModel, on_data::OnData,
    prediction::Predictor,
};

/// The process of every ready-made model.
pub type AnyProcess = WithMean<<AnyFunctions as Posterior<Kernels<AnyKernel>>>::Process, AnyMean>;

/// The process of a deep basis kernel.
pub type AnyBasisProcess = WithMean<LowRankProcess<Basis<AnyNetwork>>, AnyMean>;

/// The process of computation-aware regression.
pub type AnyComputationAwareProcess = <AnyComputationAware as FullBatch>::Process;

/// The process of regression by conjugate gradients.
pub type AnyConjugateGradientsProcess = <AnyConjugateGradients as FullBatch>::Process;

/// The process of regression that computes a part of what exact regression would.
type AnyIterativeProcess =
    EitherPredictive<AnyComputationAwareProcess, AnyConjugateGradientsProcess>;

/// What predicts the functions of a ready-made model.
pub type AnyPredictive = EitherPredictive<
    AnyProcess,
    EitherPredictive<
        StackProcess<AnyLayerProcess, AnyLayerProcess>,
        EitherPredictive<AnyBasisProcess, AnyIterativeProcess>,
    >,
>;

/// The functions of every sparse model.
type AnyFunctions = Functions<AnyPosterior<InducingPoints>>;

impl TrainedModel {
    /// The model ready for prediction.
    ///
    /// # Errors
    ///
    /// When a covariance matrix cannot be factored.
    pub fn predictor(
        &self,
    ) -> Result<Predictor<AnyPredictive, AnyLikelihood>, NotPositiveDefinite> {
        match self {
            Self::Exact(model) => {
                let (device, dtype) = model.options();
                let process = (model.condition()?)
                    .map(EitherProcess::First)
                    .map(EitherProcess::First)
                    .map(EitherProcess::First)
                    .map(EitherProcess::First);
                let likelihood = AnyLikelihood::Gaussian(model.regression.likelihood().clone());
                let process = EitherPredictive::First(process);
                Ok(Predictor::new(process, &likelihood, &device, dtype))
            }
            Self::ComputationAware(model) => {
                let process = EitherPredictive::First(model.condition()?);
                Ok(Self::iterative(
                    model,
                    model.regression.likelihood(),
                    process,
                ))
            }
            Self::ConjugateGradients(model) => {
                let process = EitherPredictive::Second(model.condition()?);
                Ok(Self::iterative(
                    model,
                    model.regression.likelihood(),
                    process,
                ))
            }
            Self::Sparse(model) => {
                let points = model.posterior().independent().inducing()[0].points();
                let process = EitherPredictive::First(model.condition()?);
                let (device, dtype) = (points.device(), points.dtype());
                Ok(Predictor::new(process, model.likelihood(), &device, dtype))
            }
            Self::Deep(model) => {
                let points = model.layers().output().inducing_inputs().swap_remove(0);
                let process = EitherPredictive::First(model.condition()?);
                let process = EitherPredictive::Second(process);
                let (device, dtype) = (points.device(), points.dtype());
                Ok(Predictor::new(process, model.likelihood(), &device, dtype))
            }
            Self::Basis(model) => {
                let level = model.posterior().level();
                let process = EitherPredictive::First(model.condition()?);
                let process = EitherPredictive::Second(EitherPredictive::Second(process));
                let (device, dtype) = (level.device(), level.dtype());
                Ok(Predictor::new(process, model.likelihood(), &device, dtype))
            }
        }
    }

    fn iterative<R: FullBatch>(
        model: &OnData<R>,
        likelihood: &Gaussian,
        process: AnyIterativeProcess,
    ) -> Predictor<AnyPredictive, AnyLikelihood> {
        let (device, dtype) = model.options();
        let process = EitherPredictive::Second(EitherPredictive::Second(process));
        let process = EitherPredictive::Second(process);
        let likelihood = AnyLikelihood::Gaussian(likelihood.clone());
        Predictor::new(process, &likelihood, &device, dtype)
    }
}
