//! Draws from inverse-free processes.

use burn::tensor::Tensor;

use super::{
    PathOptions, Paths, SamplePaths,
    pathwise::{ConditionedPaths, Draw},
    separate::paths_of_each,
};
use crate::{kernels::NoFunctionDraws, variational::InverseFreeProcess};

/// Functions with kernels of their own are drawn one by one.
impl SamplePaths for InverseFreeProcess {
    fn paths(&self, options: PathOptions) -> Result<Box<dyn Paths>, NoFunctionDraws> {
        paths_of_each(self.functions(), options, paths_of_one)
    }
}

/// `f(x) = g(x) + k(x, u)·(v − T(g(Z) + ε))` with `ε ~ N(0, S̃)`, for functions that share a kernel and
/// inducing variables. The covariance is `K − K_fu(2T − T(K_uu + S̃)T)K_uf` for every T.
fn paths_of_one(
    process: &InverseFreeProcess,
    options: (PathOptions, u64),
) -> Result<ConditionedPaths, NoFunctionDraws> {
    let mean = process.weights(); // v, [P, M]
    let [_, size] = mean.dims();
    let update = |draw: &mut Draw, values: Tensor<3>| {
        let deviation = process.variances().sqrt().reshape([1, 1, size]);
        let drawn = values + draw.noise() * deviation; // g(Z) + ε, [S, P, M]
        let explained = process.inverse(draw.columns(drawn)).transpose();
        draw.rows(explained).neg() + mean.clone().unsqueeze()
    };
    ConditionedPaths::draw(process.prior(), process.inducing(), &mean, options, update)
}
