//! Special functions on GPUs.

mod elementary;
mod gamma;
mod normal;

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use super::{SpecialFunction, SpecialOps, elementwise::Part};
use crate::ops::cube::{
    Argument, CubeBackend, CubeTensor, contiguous, cubes_for, element, empty_like,
};

impl SpecialOps for CubeBackend {
    fn special(x: CubeTensor, function: SpecialFunction) -> CubeTensor {
        launch(x, None, function)
    }

    fn special_backward(
        x: CubeTensor,
        gradient: CubeTensor,
        function: SpecialFunction,
    ) -> CubeTensor {
        launch(x, Some(gradient), function)
    }
}

/// The function, or the product of a gradient with its derivative.
fn launch(x: CubeTensor, gradient: Option<CubeTensor>, function: SpecialFunction) -> CubeTensor {
    let x = contiguous(x);
    let out = empty_like(&x, x.shape());
    let count = x.shape().num_elements();
    if count == 0 {
        return out;
    }
    let part = match gradient {
        None => Part::Value,
        Some(_) => Part::Slope,
    };
    // Without a gradient, any tensor will do because it is never read.
    let gradient = gradient.map_or_else(|| x.clone(), contiguous);
    let (client, dtype) = (x.client.clone(), element(&x));
    let (cubes, dim) = cubes_for(&x, count);
    // SAFETY: each thread reads and writes one position, which it checks against the length; all three
    // tensors are contiguous and have the same shape.
    unsafe {
        special_kernel::launch_unchecked(
            &client,
            cubes,
            dim,
            x.required_address_type(),
            x.argument(),
            gradient.argument(),
            out.clone().argument(),
            function,
            part,
            dtype,
        );
    }
    out
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn special_kernel<F: Float>(
    x: &Tensor<F>,
    gradient: &Tensor<F>,
    out: &mut Tensor<F>,
    #[comptime] function: SpecialFunction,
    #[comptime] part: Part,
    #[define(F)] _dtype: ElemType,
) {
    let place = ABSOLUTE_POS;
    if place >= out.len() {
        terminate!();
    }
    let (value, slope) = evaluate::<F>(x[place], function);
    if comptime!(part == Part::Value) {
        out[place] = value;
    } else {
        out[place] = slope * gradient[place];
    }
}

/// The function and its derivative.
#[cube]
fn evaluate<F: Float>(x: F, #[comptime] function: SpecialFunction) -> (F, F) {
    match function {
        SpecialFunction::Softplus => elementary::softplus::<F>(x),
        SpecialFunction::LogNormalCdf => normal::log_normal_cdf::<F>(x),
        SpecialFunction::LogGamma => gamma::log_gamma::<F>(x),
        SpecialFunction::LogOneMinusExp => elementary::log_one_minus_exp::<F>(x),
        SpecialFunction::ExpMinusOne => elementary::exp_minus_one::<F>(x),
        SpecialFunction::LogRatio => elementary::log_ratio::<F>(x),
        SpecialFunction::StirlingRemainder => gamma::stirling_remainder::<F>(x),
        SpecialFunction::Tanh => elementary::tanh::<F>(x),
        SpecialFunction::ArcSine => elementary::arc_sine::<F>(x),
    }
}
