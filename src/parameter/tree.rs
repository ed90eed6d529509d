//! The parameters of a module tree, by field names.

use burn::{
    module::{ModuleMapper, ModuleVisitor, Param, ParamId},
    tensor::{Int, Tensor, TensorData},
};

use super::{
    Bounds, DegreesOfFreedom, ParameterError, Role, bounds, degrees_of_freedom, fraction, numbers,
    part, positive,
};
use crate::ops::integer;

/// The place of a parameter in a module.
pub(super) struct Place {
    /// Its path.
    pub path: String,
    /// Its path as burn writes it, with every container.
    pub full_path: String,
    /// The [name](Role::name) of its role.
    pub role: String,
}

/// The parameters, at the places that are `wanted`, of the module that `visit` visits.
pub(super) fn parameters(
    visit: impl FnOnce(&mut Listing<'_>),
    wanted: &mut dyn FnMut(&Place) -> bool,
) -> Vec<Found> {
    let mut listing = Listing {
        steps: Vec::new(),
        roles: Vec::new(),
        found: Vec::new(),
        wanted,
    };
    visit(&mut listing);
    listing.found
}

/// The hyperparameters of the module that `visit` visits.
pub(super) fn hyperparameters(visit: impl FnOnce(&mut Listing<'_>)) -> Vec<Found> {
    parameters(visit, &mut |place| {
        place.role == Role::Hyperparameter.name()
    })
}

/// The constraint on the values that stored numbers represent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Constraint {
    None,
    Positive,
    Fraction,
    DegreesOfFreedom,
}

impl Constraint {
    /// The constraint on the parameters in a container.
    fn within(container: &str) -> Self {
        match container {
            POSITIVE => Self::Positive,
            FRACTION => Self::Fraction,
            DEGREES_OF_FREEDOM => Self::DegreesOfFreedom,
            _ => Self::None,
        }
    }

    /// The stored number for a value; positive values have a scale, `unit`.
    fn unconstrained(self, value: f64, unit: f64) -> f64 {
        match self {
            Self::None => value,
            Self::Positive => positive::unconstrained(value, unit),
            Self::Fraction => fraction::unconstrained(value),
            Self::DegreesOfFreedom => degrees_of_freedom::unconstrained(value),
        }
    }
}

/// A parameter found in a module.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub path: String,
    pub id: ParamId,
    constraint: Constraint,
    /// The exponent of the scale, `[1]`, and its name among parameters, if the value is positive.
    pub exponent: Option<(ParamId, Tensor<1, Int>)>,
    /// Whether the stored numbers are trained.
    pub is_trained: bool,
    /// The stored numbers, tracked by autodiff.
    stored: Tensor<1>,
    lower: Option<Tensor<1>>,
    upper: Option<Tensor<1>>,
}

impl Found {
    /// The number of values.
    pub fn count(&self) -> usize {
        self.stored.dims()[0]
    }

    /// The stored numbers, tracked by autodiff.
    pub fn stored(&self) -> Tensor<1> {
        self.stored.clone()
    }

    /// The values, tracked by autodiff.
    pub fn value(&self) -> Tensor<1> {
        let within = bounds::within(self.stored.clone(), self.lower.clone(), self.upper.clone());
        match (self.constraint, self.exponent.clone()) {
            (Constraint::None, _) => within,
            (Constraint::Positive, None) => positive::constrained(within),
            (Constraint::Positive, Some((_, exponent))) => {
                let values = positive::constrained(within);
                let unit = positive::unit(exponent, &values);
                values * unit
            }
            (Constraint::Fraction, _) => fraction::constrained(within),
            (Constraint::DegreesOfFreedom, _) => degrees_of_freedom::constrained(within),
        }
    }

    /// The scale of a positive value; one for all others.
    fn unit(&self) -> f64 {
        let exponent = self.exponent.clone();
        exponent.map_or(1.0, |(_, exponent)| positive::unit_of(integer(exponent)))
    }

    /// The lower bound of a positive parameter or of degrees of freedom, and the number that it lies
    /// above by the smallest distance.
    pub fn floor(&self) -> Option<(f64, f64)> {
        match self.constraint {
            Constraint::Positive => Some((positive::LOWER_BOUND * self.unit(), 0.0)),
            Constraint::DegreesOfFreedom => {
                Some((DegreesOfFreedom::LOWER_BOUND, degrees_of_freedom::FEWEST))
            }
            Constraint::None | Constraint::Fraction => None,
        }
    }

    /// Whether the parameter is bounded.
    pub fn has_limits(&self) -> bool {
        self.lower.is_some() || self.upper.is_some()
    }

    /// Converts bounds on the values to limits on the unconstrained numbers.
    pub fn limits(&self, bounds: Bounds) -> Bounds {
        let unit = self.unit();
        let limit = |bound: f64| self.constraint.unconstrained(bound, unit);
        Bounds {
            lower: bounds.lower.map(limit),
            upper: bounds.upper.map(limit),
        }
    }

    /// The current limits on the unconstrained numbers.
    pub fn current_limits(&self) -> Bounds {
        let limit = |limit: &Option<Tensor<1>>| numbers(limit.clone()?).first().copied();
        Bounds {
            lower: limit(&self.lower),
            upper: limit(&self.upper),
        }
    }

    /// The bounds that follow from the constraint.
    pub fn natural_bounds(&self) -> Bounds {
        match self.constraint {
            Constraint::None => Bounds::default(),
            Constraint::Positive => Bounds::above(positive::LOWER_BOUND * self.unit()),
            Constraint::Fraction => Bounds::between(0.0, 1.0),
            Constraint::DegreesOfFreedom => Bounds::above(DegreesOfFreedom::LOWER_BOUND),
        }
    }

    /// The bounds of the values.
    pub fn bounds(&self) -> Bounds {
        let unit = self.unit();
        let bound = |limit: f64| match self.constraint {
            Constraint::None => limit,
            Constraint::Positive => positive::constrained_number(limit, unit),
            Constraint::Fraction => fraction::constrained_number(limit),
            Constraint::DegreesOfFreedom => degrees_of_freedom::constrained_number(limit),
        };
        let limits = self.current_limits();
        let given = Bounds {
            lower: limits.lower.map(bound),
            upper: limits.upper.map(bound),
        };
        given.and(self.natural_bounds())
    }

    /// Checks that every value lies within the bounds.
    pub fn require(&self, values: &[f64], bounds: Bounds) -> Result<(), ParameterError> {
        let (lower, upper) = bounds.ends();
        match values.iter().find(|value| !bounds.contain(**value)) {
            Some(&value) => Err(ParameterError::OutOfBounds {
                path: self.path.clone(),
                value,
                lower,
                upper,
            }),
            None => Ok(()),
        }
    }

    /// The stored numbers for values within limits.
    pub fn stored_numbers(&self, values: &[f64], limits: Bounds) -> Vec<f64> {
        let unit = self.unit();
        let number =
            |value: &f64| bounds::stored(self.constraint.unconstrained(*value, unit), limits);
        values.iter().map(number).collect()
    }
}

/// Replaces the stored numbers of one parameter.
pub(super) struct Replacement {
    pub id: ParamId,
    pub stored: Vec<f64>,
}

impl ModuleMapper for Replacement {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        if param.id != self.id {
            return param;
        }
        param.map(|tensor| {
            let data = TensorData::new(self.stored.clone(), tensor.shape());
            let replaced = Tensor::from_data(data, (&tensor.device(), tensor.dtype()));
            if tensor.is_require_grad() {
                replaced.require_grad()
            } else {
                replaced
            }
        })
    }
}

/// A step from a module to a nested module.
struct Step {
    name: String,
    container: String,
}

impl Step {
    /// Whether paths include the step.
    fn is_named(&self) -> bool {
        let container = self.container.as_str();
        let is_constraint = [POSITIVE, FRACTION, DEGREES_OF_FREEDOM].contains(&container);
        !(container.starts_with("Enum:") || is_constraint)
    }
}

pub(super) struct Listing<'a> {
    steps: Vec<Step>,
    /// The names of the roles of the parts around, from the outermost.
    roles: Vec<String>,
    found: Vec<Found>,
    wanted: &'a mut dyn FnMut(&Place) -> bool,
}

/// burn's name for [`Positive`](super::Positive) when visiting modules.
const POSITIVE: &str = "Struct:Positive";

/// burn's name for [`Fraction`](super::Fraction) when visiting modules.
const FRACTION: &str = "Struct:Fraction";

/// burn's name for [`DegreesOfFreedom`] when visiting modules.
const DEGREES_OF_FREEDOM: &str = "Struct:DegreesOfFreedom";

/// burn's name for data attached to a parameter.
const ATTACHED: &str = "Reparameterization";

impl Listing<'_> {
    /// Stores a number that is attached to the last visited parameter.
    fn attach(&mut self, attached: usize, tensor: Tensor<1>) {
        let (owner, within) = self.steps.split_at(attached);
        let owner = path(owner);
        let Some(found) = self.found.last_mut().filter(|found| found.path == owner) else {
            return;
        };
        match path(within).as_str() {
            "bounds.lower" => found.lower = Some(tensor),
            "bounds.upper" => found.upper = Some(tensor),
            _ => {}
        }
    }
}

/// The names of the steps that paths include.
fn path(steps: &[Step]) -> String {
    joined(steps.iter().filter(|step| step.is_named()))
}

fn joined<'a>(steps: impl Iterator<Item = &'a Step>) -> String {
    let names = steps.map(|step| step.name.as_str());
    names.collect::<Vec<_>>().join(".")
}

impl ModuleVisitor for Listing<'_> {
    fn enter_module(&mut self, name: &str, container: &str) {
        match container {
            part::BEGIN => self.roles.push(name.to_owned()),
            part::END => drop(self.roles.pop()),
            _ => {}
        }
        self.steps.push(Step {
            name: name.to_owned(),
            container: container.to_owned(),
        });
    }

    fn exit_module(&mut self, _name: &str, _container: &str) {
        self.steps.pop();
    }

    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let flat = || {
            let tensor = param.val();
            let count = tensor.shape().num_elements();
            tensor.reshape([count])
        };
        let mut steps = self.steps.iter();
        if let Some(attached) = steps.position(|step| step.container == ATTACHED) {
            return self.attach(attached, flat());
        }
        let role = self.roles.last().cloned();
        let place = Place {
            path: path(&self.steps),
            full_path: joined(self.steps.iter()),
            role: role.unwrap_or_else(|| Role::Hyperparameter.name().to_owned()),
        };
        if (self.wanted)(&place) {
            self.found.push(Found {
                path: place.path,
                id: param.id,
                constraint: (self.steps.last())
                    .map_or(Constraint::None, |step| Constraint::within(&step.container)),
                exponent: None,
                is_trained: param.val().is_require_grad(),
                stored: flat(),
                lower: None,
                upper: None,
            });
        }
    }

    fn visit_int<const D: usize>(&mut self, param: &Param<Tensor<D, Int>>) {
        let is_unit = (self.steps.last()).is_some_and(|step| step.container == POSITIVE);
        let owner = path(&self.steps);
        let found = self.found.last_mut().filter(|found| found.path == owner);
        if let Some(found) = found.filter(|_| is_unit) {
            found.exponent = Some((param.id, param.val().reshape([1])));
        }
    }
}
