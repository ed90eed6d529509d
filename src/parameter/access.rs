//! Access to the parameters of any module by path.

use core::cmp::Ordering;

use burn::module::{Module, ParamGroup};

use super::{
    Bounds, ParameterError, Role,
    bounds::Bounding,
    numbers,
    tree::{self, Found, Replacement},
};

/// Reads, sets, bounds and freezes the parameters of any module by path.
///
/// A path consists of nested field names: `kernel.lengthscale`, `likelihood.noise`,
/// `kernel.first.base.variance`, `posterior.inducing.points`. It does not include enum variants,
/// the vector that stands in for a box, or the unconstrained tensor of a positive parameter. Values
/// are the constrained ones, not the unconstrained numbers that are trained.
///
/// ```
/// use burn::tensor::Device;
/// use burn_gp_core::{kernels::StationaryConfig, ops::Stationary, parameter::{Bounds, Parameters}};
///
/// let kernel = StationaryConfig::new(Stationary::Matern52).init(2, &Device::default());
/// let kernel = kernel
///     .with_parameter("lengthscale", &[0.5, 2.0])?
///     .with_bounds("lengthscale", Bounds::between(0.01, 10.0))?
///     .with_frozen("variance")?;
/// assert!((kernel.parameter("lengthscale")?[1] - 2.0).abs() < 1e-6);
/// # Ok::<(), burn_gp_core::parameter::ParameterError>(())
/// ```
pub trait Parameters: Module {
    /// The paths of all parameters.
    fn parameter_paths(&self) -> Vec<String> {
        let parameters = tree::parameters(|listing| self.visit(listing), &mut |_| true).into_iter();
        parameters.map(|found| found.path).collect()
    }

    /// The values of a parameter, row-major.
    ///
    /// # Errors
    ///
    /// [`ParameterError::Unknown`].
    fn parameter(&self, path: &str) -> Result<Vec<f64>, ParameterError> {
        Ok(numbers(find(self, path)?.value()))
    }

    /// The bounds of a parameter's values.
    ///
    /// # Errors
    ///
    /// [`ParameterError::Unknown`].
    fn parameter_bounds(&self, path: &str) -> Result<Bounds, ParameterError> {
        Ok(find(self, path)?.bounds())
    }

    /// Sets the values of a parameter: one for each, or a single one for all.
    ///
    /// # Errors
    ///
    /// When the parameter does not exist, the number of values is wrong, or a value is outside the
    /// parameter's bounds.
    fn with_parameter(self, path: &str, values: &[f64]) -> Result<Self, ParameterError> {
        let found = find(&self, path)?;
        let values = match (values, found.count()) {
            (&[value], count) => vec![value; count],
            (values, count) if values.len() == count => values.to_vec(),
            (values, expected) => {
                return Err(ParameterError::Count {
                    path: path.to_owned(),
                    expected,
                    found: values.len(),
                });
            }
        };
        found.require(&values, found.bounds())?;
        Ok(replaced(self, &found, &values, found.current_limits()))
    }

    /// Bounds the values of a parameter. Training never crosses the bounds.
    ///
    /// # Errors
    ///
    /// When the parameter does not exist, is already bounded, or lies outside the bounds.
    fn with_bounds(self, path: &str, bounds: Bounds) -> Result<Self, ParameterError> {
        let found = find(&self, path)?;
        if found.has_limits() {
            return Err(ParameterError::AlreadyBounded {
                path: path.to_owned(),
            });
        }
        let natural = found.natural_bounds();
        let (lower, upper) = bounds.and(natural).ends();
        if lower.partial_cmp(&upper) != Some(Ordering::Less) {
            return Err(ParameterError::Empty {
                path: path.to_owned(),
                lower,
                upper,
            });
        }
        let values = numbers(found.value());
        found.require(&values, bounds.and(natural))?;
        // A bound that the parameter cannot reach needs no limit.
        let limits = found.limits(Bounds {
            lower: bounds.lower.filter(|lower| natural.contain(*lower)),
            upper: bounds.upper.filter(|upper| natural.contain(*upper)),
        });
        let module = replaced(self, &found, &values, limits);
        let id = found.id;
        Ok(module.apply_reparameterization(Bounding { id, limits }))
    }

    /// Freezes a parameter, or all parameters within a field. They are not trained, but stay part
    /// of the module and its files.
    ///
    /// # Errors
    ///
    /// [`ParameterError::Unknown`].
    fn with_frozen(self, path: &str) -> Result<Self, ParameterError> {
        set_trained(self, path, false)
    }

    /// Unfreezes a parameter, or all parameters within a field, for example inducing points that
    /// were [frozen](Self::with_frozen) for the first steps.
    ///
    /// # Errors
    ///
    /// [`ParameterError::Unknown`].
    fn with_thawed(self, path: &str) -> Result<Self, ParameterError> {
        set_trained(self, path, true)
    }
}

fn set_trained<M: Module>(module: M, path: &str, trained: bool) -> Result<M, ParameterError> {
    let within = format!("{path}.");
    let found = tree::parameters(|listing| module.visit(listing), &mut |place| {
        place.path == path || place.path.starts_with(&within)
    });
    if found.is_empty() {
        return Err(unknown(&module, path));
    }
    let ids = found.into_iter().map(|found| found.id).collect();
    Ok(module.set_require_grad_group(ParamGroup::from_ids(ids), trained))
}

impl<M: Module> Parameters for M {}

fn replaced<M: Module>(module: M, found: &Found, values: &[f64], limits: Bounds) -> M {
    module.map(&mut Replacement {
        id: found.id,
        stored: found.stored_numbers(values, limits),
    })
}

/// Finds the parameter with the given path.
pub(super) fn find(module: &impl Module, path: &str) -> Result<Found, ParameterError> {
    let mut found = tree::parameters(|listing| module.visit(listing), &mut |place| {
        place.path == path
    });
    found.pop().ok_or_else(|| unknown(module, path))
}

fn unknown(module: &impl Module, path: &str) -> ParameterError {
    let known = module.parameter_paths();
    let similarity = |other: &&String| strsim::jaro_winkler(path, other);
    let nearest = (known.iter()).max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    let reported = tree::parameters(|listing| module.visit(listing), &mut |place| {
        place.role != Role::Network.name()
    });
    let reported: Vec<String> = reported.into_iter().map(|found| found.path).collect();
    ParameterError::Unknown {
        path: path.to_owned(),
        nearest: nearest.cloned().unwrap_or_default(),
        known: reported.join(", "),
    }
}
