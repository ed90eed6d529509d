//! The calls between the public functions and the mathematics, counted by a posterior of this crate.

use std::{
    backtrace::Backtrace,
    cell::{Cell, RefCell},
};

use burn::{module::Module, tensor::Tensor};
use burn_gp_core::{
    inducing::AnyInducing,
    kernels::{Kernels, NoFunctionDraws, StationaryConfig},
    likelihoods::GaussianConfig,
    ops::NotPositiveDefinite,
    process::{
        CovarianceShape, Joint, Marginals, PathOptions, Paths, Process, SamplePaths,
        VariationalGaussian,
    },
    variational::{
        AnyPosterior, Evaluation, Parameterization, Posterior, PosteriorDefinition, PosteriorInit,
        Whitened,
    },
};
use burn_gp_models::{Fit, FitModel, SvgpConfig};
use serde::{Deserialize, Serialize};

/// The most calls from [`FitModel::fit`] to the bound of the posterior.
const CALLS_OF_FIT: usize = 10;

/// The most calls from `Fitted::predict` to the marginals of the conditioned posterior.
const CALLS_OF_PREDICT: usize = 5;

thread_local! {
    /// Whether the next backtrace is wanted.
    static IS_WANTED: Cell<bool> = const { Cell::new(false) };
    /// The functions of the library on the stack, from the inside to the outside.
    static FRAMES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the functions of the library on the stack, once.
fn record() {
    if IS_WANTED.take() {
        let trace = Backtrace::force_capture().to_string();
        let frames = trace.lines().filter_map(function_of_ours);
        FRAMES.replace(frames.collect());
    }
}

/// The function in a line of a backtrace, if a crate of the library defines it.
fn function_of_ours(line: &str) -> Option<String> {
    let (number, function) = line.trim_start().split_once(": ")?;
    number.parse::<usize>().ok()?;
    let is_in = |path: &str, crates: &[&str]| {
        let path = path.trim_start_matches(['<', '&']);
        let path = path.strip_prefix("dyn ").unwrap_or(path);
        crates.iter().any(|name| path.starts_with(name))
    };
    let library = ["burn_gp_core::", "burn_gp_models::"];
    // Whether the compiler inlines them depends on how it divides a crate: a closure belongs to its function, and a
    // box only passes the call on.
    if function.contains("{{closure}}") || function.contains("for alloc::boxed::Box<") {
        return None;
    }
    // `<type as trait>::method`: the impl is the library's if one of them is, but not for types of this test. Calls of
    // closures by `FnOnce` are the compiler's, around the frame of the closure itself.
    let found = match function.split_once(" as ") {
        Some((of_type, _)) if is_in(of_type, &["it::"]) => false,
        Some((_, of_trait)) if of_trait.starts_with("core::ops::function") => false,
        Some((of_type, of_trait)) => is_in(of_type, &library) || is_in(of_trait, &library),
        None => is_in(function, &library),
    };
    found.then(|| function.to_owned())
}

/// The calls inside of `work` until the posterior records them.
fn calls_in<R>(work: impl FnOnce() -> R) -> (R, Vec<String>) {
    IS_WANTED.set(true);
    let result = work();
    (result, FRAMES.take())
}

/// A whitened posterior that records who calls it.
#[derive(Module, Debug)]
struct Recording {
    whitened: Whitened,
}

impl Posterior for Recording {
    fn evaluate(&self, prior: &Kernels, x: Tensor<2>) -> Result<Evaluation, NotPositiveDefinite> {
        record();
        self.whitened.evaluate(prior, x)
    }

    fn condition(&self, prior: &Kernels) -> Result<Box<dyn SamplePaths>, NotPositiveDefinite> {
        let process = self.whitened.condition(prior)?;
        Ok(Box::new(RecordingProcess(process)))
    }

    fn inducing(&self) -> Vec<&AnyInducing> {
        vec![self.whitened.inducing()]
    }

    fn distributions(&self) -> Vec<&VariationalGaussian> {
        vec![self.whitened.distribution()]
    }
}

struct RecordingProcess(Box<dyn SamplePaths>);

impl Process for RecordingProcess {
    fn marginals(&self, x: Tensor<2>) -> Marginals {
        record();
        self.0.marginals(x)
    }

    fn joint(&self, x: Tensor<2>) -> Joint {
        self.0.joint(x)
    }
}

impl SamplePaths for RecordingProcess {
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws> {
        self.0.paths(options)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordingConfig {}

impl PosteriorDefinition for RecordingConfig {
    fn build(
        &self,
        sets: Vec<AnyInducing>,
        start: &PosteriorInit<'_>,
    ) -> Result<AnyPosterior, NotPositiveDefinite> {
        let shape = CovarianceShape::Full;
        let mut sets = start.inducing_sets(sets, shape, Parameterization::Whitened)?;
        let (inducing, distribution) = sets.swap_remove(0).into_parts();
        let whitened = Whitened::new(inducing, distribution, start.jitter);
        Ok(Recording { whitened }.into())
    }
}

burn_gp_core::register!(
    Posterior,
    "recording",
    RecordingConfig,
    "A whitened posterior that records who calls it"
);

/// Without symbols, as in a stripped binary, there would be no frames.
#[test]
fn few_calls_lie_between_the_user_and_the_mathematics() {
    let x: Vec<f64> = (0..12).map(|row| f64::from(row) / 4.0).collect();
    let y: Vec<f64> = x.iter().map(|x| x.sin()).collect();
    let config = SvgpConfig::new(StationaryConfig::matern52(), GaussianConfig::default())
        .with_inducing(4)
        .with_posterior(RecordingConfig {});
    let (fitted, of_fit) = calls_in(|| config.fit(&x, &y, &Fit::adam(0.05).steps(2)));
    let fitted = fitted.expect("a model");
    let (predicted, of_predict) = calls_in(|| fitted.predict([0.3, 1.1]));
    predicted.expect("predictions");
    for (what, calls, most) in [
        ("fit", of_fit, CALLS_OF_FIT),
        ("predict", of_predict, CALLS_OF_PREDICT),
    ] {
        let listed = calls.join("\n  ");
        println!("{what}: {} calls\n  {listed}", calls.len());
        let outermost = calls.last().map(String::as_str).unwrap_or_default();
        assert!(
            outermost.contains(what),
            "{what} is not on the stack: {listed}"
        );
        assert!(
            calls.len() <= most,
            "{what}: {} calls, more than {most}\n  {listed}",
            calls.len()
        );
    }
}
