//! The environment of a case: its inputs, its parameters and the quantities it computes.

use burn::{
    module::{Module, ModuleMapper, ModuleVisitor, Param},
    tensor::{DType, Device, Gradients, Tensor, TensorCreationOptions, TensorData},
};
use burn_gp_core::parameter::numbers;
use rand::{Rng, RngExt, SeedableRng, rngs::ChaCha8Rng};
use rand_distr::{Distribution, StandardNormal};

use super::{Compute, Reason};

/// The parameters of the modules of a case.
pub(super) enum Parameters {
    /// Initial values with random changes.
    Drawn,
    /// The values of an earlier run, so that both runs have the same parameters.
    Given(Vec<Vec<f64>>),
}

/// A named array of numbers.
#[derive(Clone, Debug)]
pub(super) struct Quantity {
    pub name: String,
    pub values: Vec<f64>,
}

/// The quantities that a case computed.
pub(super) struct Computed {
    pub quantities: Vec<Quantity>,
    /// The parameters it was computed with.
    pub parameters: Vec<Vec<f64>>,
    /// The longest axis of the inputs and parameters.
    pub terms: usize,
}

/// The largest relative change from draw to draw.
const CHANGE: f64 = 1e-3;

type Slope = Box<dyn Fn(&Gradients) -> Vec<Quantity>>;

/// A device with a floating-point type, on which a case gets its inputs and records its quantities.
pub(super) struct Harness {
    device: Device,
    dtype: DType,
    /// Random numbers for the inputs, the same for all draws.
    random: ChaCha8Rng,
    /// Random numbers for the parameters, the same for all draws.
    random_parameters: ChaCha8Rng,
    /// Random numbers for the relative changes from draw to draw; `None` for the first draw.
    changes: Option<ChaCha8Rng>,
    given: Option<std::vec::IntoIter<Vec<f64>>>,
    parameters: Vec<Vec<f64>>,
    outputs: Vec<(String, Tensor<1>)>,
    read: Vec<Quantity>,
    loss: Option<Tensor<1>>,
    slopes: Vec<Slope>,
    inputs: usize,
    terms: usize,
}

impl Harness {
    /// The harness of a draw of the inputs. Equal names and draws give equal inputs; other draws make
    /// small changes to the first, so that all are equally conditioned.
    pub fn new(
        name: &str,
        device: &Device,
        dtype: DType,
        draw: u64,
        parameters: Parameters,
    ) -> Self {
        // FNV-1a.
        let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let random = |stream| {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            random.set_stream(stream);
            random
        };
        Self {
            device: device.clone().autodiff(),
            dtype,
            random: random(0),
            random_parameters: random(1),
            changes: (draw > 0).then(|| random(1 + draw)),
            given: match parameters {
                Parameters::Drawn => None,
                Parameters::Given(values) => Some(values.into_iter()),
            },
            parameters: Vec::new(),
            outputs: Vec::new(),
            read: Vec::new(),
            loss: None,
            slopes: Vec::new(),
            inputs: 0,
            terms: 1,
        }
    }

    /// Runs a computation and its backward pass here.
    pub fn compute(mut self, compute: &Compute) -> Result<Computed, Reason> {
        compute(&mut self)?;
        let read = |(name, tensor)| Quantity {
            name,
            values: numbers(tensor),
        };
        let mut quantities: Vec<Quantity> = self.outputs.into_iter().map(read).collect();
        quantities.extend(self.read);
        if let Some(loss) = self.loss.filter(Tensor::is_tracked) {
            let gradients = loss.backward();
            quantities.extend(self.slopes.iter().flat_map(|slope| slope(&gradients)));
        }
        Ok(Computed {
            quantities,
            parameters: self.parameters,
            terms: self.terms,
        })
    }

    /// The device, with autodiff.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The floating-point type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The creation options of tensors and modules here.
    pub fn options(&self) -> TensorCreationOptions {
        (&self.device, self.dtype).into()
    }

    /// Random numbers for values that do not depend on the device.
    pub fn random(&mut self) -> &mut impl Rng {
        &mut self.random
    }

    /// Standard normal numbers that single precision represents.
    pub fn normals(&mut self, count: usize) -> Vec<f64> {
        let Self {
            random, changes, ..
        } = self;
        (0..count)
            .map(|_| StandardNormal.sample(random))
            .map(|number| in_single(changed(number, changes)))
            .collect()
    }

    /// A tensor of constants.
    pub fn constant<const D: usize>(&mut self, values: &[f64], shape: [usize; D]) -> Tensor<D> {
        self.terms = shape.into_iter().fold(self.terms, usize::max);
        let values: Vec<f64> = values.iter().copied().map(in_single).collect();
        Tensor::from_data(TensorData::new(values, shape), self.options())
    }

    /// A tensor whose gradient is compared.
    pub fn given<const D: usize>(&mut self, values: &[f64], shape: [usize; D]) -> Tensor<D> {
        let tensor = self.constant(values, shape).require_grad();
        self.inputs += 1;
        let (name, leaf) = (format!("gradient of input {}", self.inputs), tensor.clone());
        self.slopes.push(Box::new(move |gradients| {
            let gradient = leaf.grad(gradients);
            let values = gradient.map_or_else(Vec::new, numbers);
            vec![Quantity {
                name: name.clone(),
                values,
            }]
        }));
        tensor
    }

    /// Standard normal numbers whose gradient is compared.
    pub fn normal<const D: usize>(&mut self, shape: [usize; D]) -> Tensor<D> {
        let values = self.normals(shape.iter().product());
        self.given(&values, shape)
    }

    /// Positive numbers around one whose gradient is compared.
    pub fn positive<const D: usize>(&mut self, shape: [usize; D]) -> Tensor<D> {
        let values = self.normals(shape.iter().product());
        let values: Vec<f64> = values.iter().map(|value| (0.3 * value).exp()).collect();
        self.given(&values, shape)
    }

    /// The module with changed parameters, whose gradients are compared.
    pub fn module<M: Module + 'static>(&mut self, module: M) -> M {
        let module = module.map(&mut Changes(self));
        let leaf = module.clone();
        self.slopes.push(Box::new(move |gradients| {
            let mut slopes = ParameterSlopes {
                gradients,
                path: Vec::new(),
                found: Vec::new(),
            };
            leaf.visit(&mut slopes);
            slopes.found
        }));
        module
    }

    /// Records a quantity, and adds it to the loss with fixed weights.
    pub fn output<const D: usize>(&mut self, name: &str, tensor: Tensor<D>) {
        let count: usize = tensor.dims().iter().product();
        let flat = tensor.reshape([count]);
        // Neither symmetric nor constant, so that no gradient cancels.
        let weights: Vec<f64> = (0..count)
            .map(|index| (0.7 * index as f64 + self.outputs.len() as f64).sin() + 0.2)
            .map(in_single)
            .collect();
        let weights = Tensor::from_data(TensorData::new(weights, [count]), self.options());
        let term = (flat.clone() * weights).sum();
        self.outputs.push((name.to_owned(), flat));
        self.loss = Some(match self.loss.take() {
            Some(loss) => loss + term,
            None => term,
        });
    }

    /// Records a quantity without a gradient.
    pub fn value<const D: usize>(&mut self, name: &str, tensor: Tensor<D>) {
        let count: usize = tensor.dims().iter().product();
        self.outputs
            .push((name.to_owned(), tensor.reshape([count])));
    }

    /// Records numbers that were read from the device.
    pub fn numbers(&mut self, name: &str, values: Vec<f64>) {
        self.read.push(Quantity {
            name: name.to_owned(),
            values,
        });
    }

    /// The values of the next parameter.
    fn next_parameter(&mut self, initial: &[f64]) -> Vec<f64> {
        let Self {
            random_parameters,
            changes,
            ..
        } = self;
        let given = self.given.as_mut().and_then(Iterator::next);
        let values = given.unwrap_or_else(|| {
            let mut change = || random_parameters.random_range(-0.1..0.1);
            let values = initial.iter().map(|&value| match value {
                0.0 => change(),
                value => value * (1.0 + change()),
            });
            (values.map(|value| in_single(changed(value, changes)))).collect()
        });
        self.parameters.push(values.clone());
        values
    }
}

/// The number with the change of a draw.
fn changed(number: f64, changes: &mut Option<ChaCha8Rng>) -> f64 {
    match changes {
        Some(changes) => number * (1.0 + changes.random_range(-CHANGE..CHANGE)),
        None => number,
    }
}

fn in_single(value: f64) -> f64 {
    f64::from(value as f32)
}

/// Replaces the trained parameters of a module.
struct Changes<'a>(&'a mut Harness);

impl ModuleMapper for Changes<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let harness = &mut *self.0;
        let stored = param.base();
        // The others are bounds and states, which may depend on the precision.
        if !stored.is_require_grad() {
            return param;
        }
        let shape = stored.dims();
        harness.terms = shape.into_iter().fold(harness.terms, usize::max);
        let values = harness.next_parameter(&numbers(stored.detach()));
        let options = harness.options();
        param.map(|_| Tensor::from_data(TensorData::new(values, shape), options).require_grad())
    }
}

/// The gradients of the parameters of a module, by their paths.
struct ParameterSlopes<'a> {
    gradients: &'a Gradients,
    path: Vec<String>,
    found: Vec<Quantity>,
}

impl ModuleVisitor for ParameterSlopes<'_> {
    fn enter_module(&mut self, name: &str, _kind: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _name: &str, _kind: &str) {
        self.path.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let stored = param.base();
        if !stored.is_require_grad() {
            return;
        }
        let gradient = stored.grad(self.gradients);
        self.found.push(Quantity {
            name: format!("gradient of {}", self.path.join(".")),
            values: gradient.map_or_else(Vec::new, numbers),
        });
    }
}
