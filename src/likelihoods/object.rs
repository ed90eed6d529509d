//! Likelihoods as trait objects.

use std::sync::Arc;

use burn::tensor::Tensor;
use rand::Rng;

use super::{ImpossibleTarget, Likelihood, Quadrature, QuadratureCenter, TargetDistribution};
use crate::{custom::AnyModule, process::Marginals};

/// Passes the methods of likelihoods to a macro.
macro_rules! with_methods {
    ($use:ident) => {
        $use! {
            name() -> &'static str;
            takes() -> String;
            is_possible(column: usize, value: f64) -> bool;
            latents_per_output() -> usize;
            columns_per_output() -> usize;
            classes() -> Option<usize>;
            noise_variance() -> Option<f64>;
            log_density(targets: Tensor<2>, function: Tensor<3>) -> Tensor<3>;
            conditional_moments(function: Tensor<3>) -> (Tensor<3>, Tensor<3>);
            check_targets(targets: &[f64], columns: usize) -> Result<(), ImpossibleTarget>;
            quadrature() -> Quadrature;
            kink(targets: &Tensor<2>) -> Option<QuadratureCenter>;
            peak(targets: &Tensor<2>) -> Option<QuadratureCenter>;
            expected_log_density(targets: Tensor<2>, marginals: Marginals) -> Tensor<1>;
            log_predictive_density(targets: Tensor<2>, marginals: Marginals) -> Tensor<1>;
            predict(marginals: Marginals) -> Marginals;
            target_distribution() -> Option<Arc<dyn TargetDistribution>>;
            class_probabilities(marginals: Marginals) -> Option<Tensor<2>>;
        }
    };
}

/// Defines [`LikelihoodObject`] and implements it for all likelihoods.
macro_rules! object {
    ($($method:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// A likelihood as a trait object.
        pub trait LikelihoodObject {
            /// [`Likelihood::in_larger_unit`].
            fn enlarged(&self, decades: i64) -> Box<dyn AnyModule>;

            /// [`Likelihood::sample`].
            fn draw(&self, function: Tensor<3>, random: &mut dyn Rng) -> Tensor<3>;

            $(
                #[doc = concat!("[`Likelihood::", stringify!($method), "`].")]
                fn $method(&self, $($argument: $type),*) -> $result;
            )*
        }

        impl<L: Likelihood> LikelihoodObject for L {
            fn enlarged(&self, decades: i64) -> Box<dyn AnyModule> {
                Box::new(self.clone().in_larger_unit(decades))
            }

            fn draw(&self, function: Tensor<3>, mut random: &mut dyn Rng) -> Tensor<3> {
                self.sample(function, &mut random)
            }

            $(
                #[track_caller]
                fn $method(&self, $($argument: $type),*) -> $result {
                    Likelihood::$method(self, $($argument),*)
                }
            )*
        }
    };
}

with_methods!(object);

/// Forwards the methods of likelihoods to `self.object()`.
macro_rules! forward {
    ($($method:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        $(
            #[track_caller]
            fn $method(&self, $($argument: $type),*) -> $result {
                self.object().$method($($argument),*)
            }
        )*
    };
}

pub(super) use {forward, with_methods};
