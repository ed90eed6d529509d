//! Posteriors of other crates.

use std::{any::Any, marker::PhantomData};

use burn::{
    module::{Module, ModuleDisplay},
    tensor::Tensor,
};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    Coordinates, Evaluation, FunctionMatrices, InducingSet, InducingSets, Posterior,
    PosteriorConfig, PosteriorName, PriorCovariances,
    definition::{ConfigBuild, PosteriorInit},
};
use crate::{
    custom::{
        self, AnyModule, BoxedModule, CustomConfig, Fields, Registration, checked, into_type,
        of_type, read,
    },
    inducing::{InducingPatches, InducingPoints},
    kernels::{AnyKernel, Convolutional, SeparateKernels},
    ops::{Jitter, NotPositiveDefinite},
    process::{CovarianceShape, DrawableProcess, VariationalGaussian},
};

/// The configuration of a posterior of another crate. After registration, in one line
/// (`burn_gp_core::register_posterior!(MyConfig)`), the posterior works like those of this crate: in
/// configurations of models with one or several layers, on points and on patches, with shared and
/// separate kernels, and in files.
///
/// A posterior that is a Gaussian over its inducing variables only has to implement
/// [`InducingGaussians`](super::InducingGaussians). Any other posterior implements [`Posterior`]
/// for a shared kernel and for [`SeparateKernels`], [`InducingSets`], and
/// [`SamplePaths`](crate::process::SamplePaths) for its process.
pub trait PosteriorDefinition: Default + Serialize + DeserializeOwned + 'static {
    /// The name in configurations. It should be unique: a configuration with a name that is
    /// registered twice is an error.
    const NAME: &'static str;

    /// A line of help for the command line, where the name selects the default configuration.
    const HELP: &'static str = "A posterior of another crate";

    /// Checks the values of a configuration that was read.
    ///
    /// # Errors
    ///
    /// The reason, if a value is out of range.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The posterior over inducing variables `I`.
    type Posterior<I: Module + ModuleDisplay + Sync + 'static>: InducingSets<Inducing = I>
        + Module
        + ModuleDisplay
        + Sync
        + 'static;

    /// The covariance of the initial Gaussians.
    fn covariance(&self) -> CovarianceShape {
        CovarianceShape::Full
    }

    /// Whether the initial Gaussians are over whitened or unwhitened variables.
    fn coordinates(&self) -> Coordinates {
        Coordinates::Whitened
    }

    /// Whether the posterior has a second set of inducing variables, orthogonal to the first.
    fn has_orthogonal_set(&self) -> bool {
        false
    }

    /// Makes the posterior over sets of inducing variables with Gaussians that equal the prior.
    /// There is one set, or two if there is an [orthogonal set](Self::has_orthogonal_set).
    fn init<I: Module + ModuleDisplay + Sync + 'static>(
        &self,
        sets: Vec<InducingSet<I>>,
        jitter: Jitter,
    ) -> Self::Posterior<I>;
}

/// A posterior of another crate.
#[derive(Module, Debug)]
pub struct CustomPosterior {
    posterior: BoxedModule<dyn AnyModule>,
    #[module(skip)]
    functions: &'static Functions,
}

/// The configuration of a posterior of another crate, with its name.
pub type CustomPosteriorConfig = CustomConfig<PosteriorFunctions>;

/// A registered posterior of another crate.
pub type PosteriorRegistration = Registration<PosteriorFunctions>;

/// The functions of a registered posterior.
pub struct PosteriorFunctions {
    pub(super) name: PosteriorName,
    start: fn(&Fields) -> (CovarianceShape, Coordinates),
    has_orthogonal_set: fn(&Fields) -> bool,
    on_points: fn(&Fields, Vec<InducingSet<InducingPoints>>, Jitter) -> CustomPosterior,
    on_patches: fn(&Fields, Vec<InducingSet<InducingPatches>>, Jitter) -> CustomPosterior,
}

type Change = fn(Box<dyn AnyModule>, &dyn Any) -> Box<dyn AnyModule>;

type Conditioned = Result<Box<dyn DrawableProcess>, NotPositiveDefinite>;

/// The functions of a posterior of one type under the priors of its inducing variables.
#[derive(Debug)]
struct Functions {
    inducing: fn(&dyn AnyModule) -> Vec<&dyn Any>,
    distributions: fn(&dyn AnyModule) -> Vec<&VariationalGaussian>,
    evaluate: fn(&dyn AnyModule, &dyn Any, Tensor<2>) -> Result<Evaluation, NotPositiveDefinite>,
    condition: fn(&dyn AnyModule, &dyn Any) -> Conditioned,
    after_step: Change,
    synchronized: Change,
}

custom::kind!(
    "posterior",
    PosteriorConfig,
    PosteriorFunctions,
    PosteriorDefinition,
    "register_posterior"
);

/// Calls a method of a posterior with the prior downcast to its concrete type.
macro_rules! under {
    ($prior:ident: $($type:ty),+ => $call:expr) => {{
        $(
            if let Some($prior) = $prior.downcast_ref::<$type>() {
                return $call;
            }
        )+
        panic!("a registered posterior only works with kernels chosen at run time (AnyKernel)")
    }};
}

/// Defines [`Functions`] for posteriors over one kind of inducing variables.
macro_rules! functions {
    ($name:ident, $($prior:ty),+) => {
        struct $name<P>(PhantomData<P>);

        impl<P> $name<P>
        where
            P: InducingSets<Inducing: 'static> + Module + ModuleDisplay + Sync + 'static,
            $(P: Posterior<$prior, Process: DrawableProcess + 'static>,)+
        {
            const FUNCTIONS: Functions = Functions {
                inducing: |module| {
                    let sets = InducingSets::inducing(of_type::<P>(module)).into_iter();
                    sets.map(|set| set as &dyn Any).collect()
                },
                distributions: |module| of_type::<P>(module).distributions(),
                evaluate: |module, prior, x| {
                    let posterior = of_type::<P>(module);
                    under!(prior: $($prior),+ => posterior.evaluate(prior, x))
                },
                condition: |module, prior| {
                    let posterior = of_type::<P>(module);
                    under!(prior: $($prior),+ => Ok(Box::new(posterior.condition(prior)?)))
                },
                after_step: |module, prior| {
                    let posterior = into_type::<P>(module);
                    under!(prior: $($prior),+ => Box::new(posterior.after_step(prior)))
                },
                synchronized: |module, prior| {
                    let posterior = into_type::<P>(module);
                    under!(prior: $($prior),+ => Box::new(posterior.synchronized(prior)))
                },
            };
        }
    };
}

functions!(OnPoints, AnyKernel, SeparateKernels<AnyKernel>);
functions!(OnPatches, Convolutional<AnyKernel>);

impl PosteriorRegistration {
    /// Describes a posterior for [`register_posterior!`](crate::register_posterior), which
    /// registers it.
    pub const fn of<D: PosteriorDefinition>() -> Self
    where
        D::Posterior<InducingPoints>: Posterior<AnyKernel, Process: DrawableProcess + 'static>
            + Posterior<SeparateKernels<AnyKernel>, Process: DrawableProcess + 'static>,
        D::Posterior<InducingPatches>:
            Posterior<Convolutional<AnyKernel>, Process: DrawableProcess + 'static>,
    {
        Self::new(
            D::NAME,
            |fields| read::<D>(fields)?.check(),
            PosteriorFunctions {
                name: PosteriorName::new(
                    D::NAME,
                    D::HELP,
                    || PosteriorConfig::custom(D::default()),
                ),
                start: |fields| {
                    let definition = checked::<D>(fields);
                    (definition.covariance(), definition.coordinates())
                },
                has_orthogonal_set: |fields| checked::<D>(fields).has_orthogonal_set(),
                on_points: |fields, sets, jitter| {
                    let posterior = checked::<D>(fields).init(sets, jitter);
                    CustomPosterior::new(
                        posterior,
                        &OnPoints::<D::Posterior<InducingPoints>>::FUNCTIONS,
                    )
                },
                on_patches: |fields, sets, jitter| {
                    let posterior = checked::<D>(fields).init(sets, jitter);
                    CustomPosterior::new(
                        posterior,
                        &OnPatches::<D::Posterior<InducingPatches>>::FUNCTIONS,
                    )
                },
            },
        )
    }
}

/// Registers the configuration of a posterior, a
/// [`PosteriorDefinition`](crate::variational::PosteriorDefinition).
#[macro_export]
macro_rules! register_posterior {
    ($definition:ty) => {
        $crate::custom::inventory::submit! {
            $crate::variational::PosteriorRegistration::of::<$definition>()
        }
    };
}

impl ConfigBuild for CustomPosteriorConfig {
    type Posterior<I: Module> = CustomPosterior;

    fn has_orthogonal_set(&self) -> bool {
        let (functions, fields) = self.parts();
        (functions.has_orthogonal_set)(fields)
    }

    #[track_caller]
    fn build<const D: usize, I: Module + 'static>(
        &self,
        sets: Vec<I>,
        start: &PosteriorInit<'_, impl PriorCovariances<I, D>>,
    ) -> Result<CustomPosterior, NotPositiveDefinite>
    where
        Tensor<D>: FunctionMatrices,
    {
        let (functions, fields) = self.parts();
        let (covariance, coordinates) = (functions.start)(fields);
        let sets = start.inducing_sets(sets, covariance, coordinates)?;
        let sets: Box<dyn Any> = Box::new(sets);
        Ok(match sets.downcast() {
            Ok(sets) => (functions.on_points)(fields, *sets, start.jitter),
            Err(sets) => match sets.downcast() {
                Ok(sets) => (functions.on_patches)(fields, *sets, start.jitter),
                Err(_) => {
                    panic!(
                        "a registered posterior only works with InducingPoints or InducingPatches"
                    )
                }
            },
        })
    }
}

impl CustomPosterior {
    fn new(posterior: impl AnyModule, functions: &'static Functions) -> Self {
        Self {
            posterior: BoxedModule::new(posterior, |module| module, |module| module),
            functions,
        }
    }

    pub(super) fn evaluate<Q: 'static>(
        &self,
        prior: &Q,
        x: Tensor<2>,
    ) -> Result<Evaluation, NotPositiveDefinite> {
        (self.functions.evaluate)(self.posterior.piece(), prior, x)
    }

    pub(super) fn condition<Q: 'static>(&self, prior: &Q) -> Conditioned {
        (self.functions.condition)(self.posterior.piece(), prior)
    }

    pub(super) fn after_step<Q: 'static>(mut self, prior: &Q) -> Self {
        let after_step = self.functions.after_step;
        self.posterior = self
            .posterior
            .map_module(|module| after_step(module, prior));
        self
    }

    pub(super) fn synchronized<Q: 'static>(mut self, prior: &Q) -> Self {
        let synchronized = self.functions.synchronized;
        self.posterior = self
            .posterior
            .map_module(|module| synchronized(module, prior));
        self
    }

    /// The sets of inducing variables, which are of type `I`.
    pub(super) fn inducing<I: 'static>(&self) -> Vec<&I> {
        let sets = (self.functions.inducing)(self.posterior.piece()).into_iter();
        sets.filter_map(|set| set.downcast_ref()).collect()
    }

    pub(super) fn distributions(&self) -> Vec<&VariationalGaussian> {
        (self.functions.distributions)(self.posterior.piece())
    }
}
