//! Draws of functions that each have their own process.

use burn::tensor::Tensor;

use super::{PathOptions, Paths, pathwise::ConditionedPaths};
use crate::kernels::NoFunctionDraws;

/// Draws of P functions, each from its own process.
struct SeparatePaths {
    functions: Vec<ConditionedPaths>,
}

/// Draws the functions of a process together, or each by itself in its own random stream if there are
/// several processes.
pub(super) fn paths_of_each<P>(
    functions: Vec<P>,
    options: PathOptions,
    draw: impl Fn(&P, (PathOptions, u64)) -> Result<ConditionedPaths, NoFunctionDraws>,
) -> Result<Box<dyn Paths>, NoFunctionDraws> {
    let functions = functions.iter().zip(0..);
    let functions = functions.map(|(function, stream)| draw(function, (options, stream)));
    Ok(Box::new(SeparatePaths {
        functions: functions.collect::<Result<_, _>>()?,
    }))
}

impl Paths for SeparatePaths {
    fn evaluate(&self, x: Tensor<2>) -> Tensor<3> {
        let draws = self.functions.iter().map(|paths| paths.evaluate(x.clone()));
        Tensor::cat(draws.collect(), 1)
    }
}
