//! What a module's parameters are called and what they are worth.

use burn::{
    module::{Module, ModuleVisitor, Param},
    tensor::Tensor,
};

use super::{numbers, positive};

/// One reported hyperparameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Hyperparameter {
    /// Its path, such as `kernel.lengthscale`.
    pub path: String,
    /// Its constrained values.
    pub values: Vec<f64>,
}

impl Hyperparameter {
    /// A hyperparameter with the given path and values.
    pub fn new(path: impl Into<String>, values: Vec<f64>) -> Self {
        Self {
            path: path.into(),
            values,
        }
    }

    /// The same hyperparameter seen from one level further up.
    pub fn within(mut self, prefix: &str) -> Self {
        self.path = format!("{prefix}.{}", self.path);
        self
    }
}

/// The hyperparameters of any module, in the units people read and in the order of its fields: all
/// its parameters but the weights of networks, which are those in fields named `network`.
///
/// A path names fields. Which variant an enum holds, the vector that stands for a box, and the
/// unconstrained number behind a positive one are no parts of it.
pub fn hyperparameters(module: &impl Module) -> Vec<Hyperparameter> {
    let mut listing = Listing::default();
    module.visit(&mut listing);
    listing.found
}

/// The field that holds a kernel's network.
const NETWORK: &str = "network";

/// A step from a module to one within.
struct Step {
    /// The name in paths, if it is part of them.
    name: Option<String>,
    container: String,
}

#[derive(Default)]
struct Listing {
    steps: Vec<Step>,
    found: Vec<Hyperparameter>,
}

impl Listing {
    /// Whether a step is part of paths.
    fn is_named(&self, container: &str) -> bool {
        let boxed = "Struct:BoxedKernel";
        let within_box = self
            .steps
            .last()
            .is_some_and(|step| step.container == boxed);
        !(container.starts_with("Enum:")
            || container == boxed
            || within_box
            || container == POSITIVE)
    }
}

/// What burn calls a [`Positive`](super::Positive) when it visits one.
const POSITIVE: &str = "Struct:Positive";

impl ModuleVisitor for Listing {
    fn enter_module(&mut self, name: &str, container: &str) {
        let name = self.is_named(container).then(|| name.to_owned());
        self.steps.push(Step {
            name,
            container: container.to_owned(),
        });
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.steps.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let names: Vec<&str> = (self.steps.iter())
            .filter_map(|step| step.name.as_deref())
            .collect();
        if names.contains(&NETWORK) {
            return;
        }
        let mut values = numbers(param.val());
        if (self.steps.last()).is_some_and(|step| step.container == POSITIVE) {
            for value in &mut values {
                *value = positive::constrained(*value);
            }
        }
        self.found
            .push(Hyperparameter::new(names.join("."), values));
    }
}
