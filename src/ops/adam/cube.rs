//! An Adam step on GPUs in one launch.

use burn::backend::TensorMetadata;
use burn_cubecl::cubecl::{self, prelude::*};

use super::{AdamOps, AdamStep};
use crate::ops::cube::{
    Argument, CubeBackend, CubeTensor, contiguous, cubes_for, element, empty_like, writable,
};

impl AdamOps for CubeBackend {
    fn adam(
        parameter: CubeTensor,
        gradient: CubeTensor,
        first: CubeTensor,
        second: CubeTensor,
        step: AdamStep,
    ) -> (CubeTensor, CubeTensor, CubeTensor) {
        launch(parameter, gradient, [first, second], None, step)
    }

    fn adam_if(
        parameter: CubeTensor,
        gradient: CubeTensor,
        first: CubeTensor,
        second: CubeTensor,
        ok: CubeTensor,
        step: AdamStep,
    ) -> (CubeTensor, CubeTensor, CubeTensor) {
        launch(parameter, gradient, [first, second], Some(ok), step)
    }
}

/// Works in place on the moments that are not shared. The model keeps its parameters until the whole
/// step is known to have succeeded, so those are never overwritten.
fn launch(
    parameter: CubeTensor,
    gradient: CubeTensor,
    moments: [CubeTensor; 2],
    ok: Option<CubeTensor>,
    step: AdamStep,
) -> (CubeTensor, CubeTensor, CubeTensor) {
    let [first, second] = moments.map(writable);
    let count = parameter.shape().num_elements();
    if count == 0 {
        return (parameter, first, second);
    }
    let (parameter, gradient) = (contiguous(parameter), contiguous(gradient));
    let out = empty_like(&parameter, parameter.shape());
    let may_skip = ok.is_some();
    // Without a flag, any tensor will do because it is never read.
    let ok = ok.unwrap_or_else(|| gradient.clone());
    let (client, dtype, flag_type) = (gradient.client.clone(), element(&gradient), element(&ok));
    let (cubes, dim) = cubes_for(&gradient, count);
    let number = |value: f64| InputScalar::new(value, dtype);
    let address = [&gradient, &ok, &parameter, &first, &second].map(|t| t.required_address_type());
    // SAFETY: each thread reads and writes one position, which it checks against the length. All five tensors
    // are contiguous and have the same shape.
    unsafe {
        adam_kernel::launch_unchecked(
            &client,
            cubes,
            dim,
            address.into_iter().max().unwrap_or_default(),
            gradient.argument(),
            ok.argument(),
            parameter.argument(),
            out.clone().argument(),
            first.clone().argument(),
            second.clone().argument(),
            AdamNumbersLaunch::new(
                number(step.beta_1),
                number(1.0 - step.beta_1),
                number(step.beta_2),
                number(1.0 - step.beta_2),
                number(step.rate),
                number(step.epsilon),
            ),
            may_skip,
            dtype,
            flag_type,
        );
    }
    (out, first, second)
}

/// The constants of a step. The differences `1 − β` are rounded once, from double precision.
#[derive(CubeType, CubeLaunch)]
struct AdamNumbers {
    keep_first: InputScalar,
    new_first: InputScalar,
    keep_second: InputScalar,
    new_second: InputScalar,
    rate: InputScalar,
    epsilon: InputScalar,
}

#[cube(launch_unchecked, address_type = "dynamic")]
fn adam_kernel<F: Float, K: Float>(
    gradient: &Tensor<F>,
    ok: &Tensor<K>,
    parameter: &Tensor<F>,
    out: &mut Tensor<F>,
    first: &mut Tensor<F>,
    second: &mut Tensor<F>,
    numbers: &AdamNumbers,
    #[comptime] may_skip: bool,
    #[define(F)] _dtype: ElemType,
    #[define(K)] _flag_type: ElemType,
) {
    let place = ABSOLUTE_POS;
    if place >= out.len() {
        terminate!();
    }
    let old = parameter[place];
    if comptime!(may_skip) {
        let takes_it = ok[0] > K::new(0.0);
        if !takes_it {
            out[place] = old;
            terminate!();
        }
    }
    let slope = gradient[place];
    let mean = first[place] * numbers.keep_first.get::<F>() + numbers.new_first.get::<F>() * slope;
    let square = second[place] * numbers.keep_second.get::<F>()
        + numbers.new_second.get::<F>() * slope * slope;
    let size = square.sqrt() + numbers.epsilon.get::<F>();
    first[place] = mean;
    second[place] = square;
    out[place] = old - numbers.rate.get::<F>() * mean / size;
}
