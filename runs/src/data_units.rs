//! The units of hyperparameters, and the conversion from standardized values.

use std::collections::BTreeMap;

use burn_gp_core::{
    kernels::{KernelConfig, KernelParameter, KernelUnits},
    likelihoods::LikelihoodName,
    parameter::Hyperparameter,
};
use burn_gp_datasets::Standardizer;
use serde::Serialize;

/// The units of the values of a hyperparameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Units {
    /// Each value has the units of its input.
    Inputs,
    /// Each value has the inverse units of its input.
    PerInput,
    /// The values have the squared units of the target.
    SquaredTarget,
    /// Each value has the squared units of the target over the squared units of its input.
    SquaredTargetPerInput,
    /// The values have the units of the target.
    Target,
    /// Each value has the units of the target over the units of its input.
    TargetPerInput,
    /// The values have no units.
    None,
    /// The values are in standardized units, or are about a function that is not on the scale of the target.
    Standardized,
}

impl Units {
    /// Whether there is one value for each input.
    pub fn are_by_input(self) -> bool {
        use Units::{Inputs, PerInput, SquaredTargetPerInput, TargetPerInput};
        matches!(
            self,
            Inputs | PerInput | SquaredTargetPerInput | TargetPerInput
        )
    }
}

/// The units of a hyperparameter and the conversion from standardized values.
#[derive(Clone, Debug)]
pub struct Conversion {
    /// The units.
    pub units: Units,
    /// The input of each value, if values belong to inputs. For inputs that share a value, the first one.
    pub columns: Vec<usize>,
    /// Whether inputs share values.
    pub is_shared: bool,
    /// The factor of each value, or a single factor for all.
    pub factors: Vec<f64>,
    /// The number to add after multiplying by the factor.
    pub shift: f64,
}

impl Conversion {
    /// Converts a value in the units of the data to standardized values: a single value, or one for each input
    /// if their scales differ.
    pub fn standardized(&self, value: f64) -> Vec<f64> {
        let values: Vec<f64> = (self.factors.iter())
            .map(|factor| (value - self.shift) / factor)
            .collect();
        match values.split_first() {
            Some((first, others)) if others.iter().all(|other| other == first) => vec![*first],
            _ => values,
        }
    }
}

/// The conversions of the parameters of a model, by their paths.
pub struct Conversions<'a> {
    standardizer: &'a Standardizer,
    /// The scale of the target; `None` if functions are not on the scale of the target.
    target: Option<f64>,
    known: BTreeMap<String, Conversion>,
}

/// The first of the `columns` in each group; all columns if there are no groups.
fn first_of_groups(columns: &[usize], groups: &[usize]) -> Vec<usize> {
    if groups.len() != columns.len() {
        return columns.to_vec();
    }
    let count = groups.iter().max().map_or(0, |largest| largest + 1);
    let place = |group: usize| groups.iter().position(|own| *own == group);
    (0..count)
        .filter_map(place)
        .map(|place| columns[place])
        .collect()
}

impl<'a> Conversions<'a> {
    /// The conversions of the parameters of a kernel. `kernel` is `None` if it is not a kernel on the inputs.
    pub fn of_kernel(
        kernel: Option<&KernelConfig>,
        likelihood: LikelihoodName,
        standardizer: &'a Standardizer,
    ) -> Self {
        let kind = likelihood.target();
        let is_on_target = kind.is_any_number();
        let mut conversions = Self {
            standardizer,
            target: is_on_target.then_some(standardizer.target_scale),
            known: BTreeMap::new(),
        };
        if let Some(kernel) = kernel {
            let columns: Vec<usize> = (0..standardizer.input_scale.len()).collect();
            conversions.kernel(kernel, "kernel", Some(&columns), true);
        }
        conversions
    }

    /// The conversion of a parameter, if it has units.
    pub fn get(&self, path: &str) -> Option<&Conversion> {
        self.known.get(path)
    }

    /// The conversion of a single value for several inputs, which exists if all inputs have the same scale.
    pub fn shared(&self, path: &str, values: &[f64]) -> Option<Conversion> {
        let known = self.known.get(path)?;
        let factor = *known.factors.first()?;
        let is_equal = known.factors.iter().all(|other| *other == factor);
        (values.len() == 1 && is_equal).then(|| Conversion {
            columns: Vec::new(),
            factors: vec![factor],
            ..known.clone()
        })
    }

    fn add(&mut self, path: String, units: Units, columns: &[usize], factor: impl Fn(f64) -> f64) {
        let scale = |&column: &usize| factor(self.standardizer.input_scale[column]);
        let factors = match units.are_by_input() {
            true => columns.iter().map(scale).collect(),
            false => vec![factor(1.0)],
        };
        let columns = columns.to_vec();
        let conversion = Conversion {
            units,
            columns,
            is_shared: false,
            factors,
            shift: 0.0,
        };
        self.known.insert(path, conversion);
    }

    /// Marks the values of a parameter as shared by groups of inputs, if there are groups.
    fn share(&mut self, path: &str, groups: &[usize]) {
        if let Some(conversion) = self.known.get_mut(path) {
            conversion.is_shared = !groups.is_empty();
        }
    }

    /// Adds the parameters of a kernel on the inputs `columns`, which are `None` if its inputs are not inputs
    /// of the data. The variance of a term of a sum is the variance of a function; the variance of a factor has
    /// no units.
    fn kernel(
        &mut self,
        kernel: &KernelConfig,
        path: &str,
        columns: Option<&[usize]>,
        is_term: bool,
    ) {
        for parameter in kernel.parameters() {
            self.parameter(&parameter, path, columns, is_term);
        }
        for part in kernel.parts() {
            let path = format!("{path}.{}", part.name);
            let own = columns.and_then(|columns| part.inputs.columns(columns));
            let is_term = is_term && !part.is_factor;
            self.kernel(part.kernel, &path, own.as_deref(), is_term);
        }
    }

    /// Adds a parameter of a kernel.
    fn parameter(
        &mut self,
        parameter: &KernelParameter<'_>,
        path: &str,
        columns: Option<&[usize]>,
        is_term: bool,
    ) {
        let path = format!("{path}.{}", parameter.path);
        let columns = columns.and_then(|columns| parameter.inputs.columns(columns));
        let columns = columns.map(|columns| first_of_groups(&columns, parameter.groups));
        let target = self.target.filter(|_| is_term);
        match (parameter.units, columns, target) {
            (KernelUnits::None, ..) => self.add(path, Units::None, &[], |_| 1.0),
            (KernelUnits::Variance, _, Some(target)) => {
                self.add(path, Units::SquaredTarget, &[], |_| target * target);
            }
            (KernelUnits::Distance, Some(columns), _) => {
                self.add(path.clone(), Units::Inputs, &columns, |scale| scale);
                self.share(&path, parameter.groups);
            }
            (KernelUnits::Place, Some(columns), _) => {
                self.add(path.clone(), Units::Inputs, &columns, |scale| scale);
                let mean = columns
                    .first()
                    .map(|&column| self.standardizer.input_mean[column]);
                if let Some((conversion, mean)) = self.known.get_mut(&path).zip(mean) {
                    conversion.shift = mean;
                }
            }
            (KernelUnits::PerInput, Some(columns), _) => {
                self.add(path, Units::PerInput, &columns, f64::recip);
            }
            (KernelUnits::SquaredSlope, Some(columns), Some(target)) => {
                let factor = |scale: f64| (target / scale).powi(2);
                self.add(path.clone(), Units::SquaredTargetPerInput, &columns, factor);
                self.share(&path, parameter.groups);
            }
            // Values without columns, or whose function is not on the scale of the target.
            _ => {}
        }
    }

    /// Adds the parameters of the likelihood and the mean. Those of a likelihood have no units, except for the size of
    /// the noise.
    pub fn others(&mut self, parameters: &[Hyperparameter]) {
        for parameter in parameters {
            if parameter.path.starts_with("likelihood.") {
                self.add(parameter.path.clone(), Units::None, &[], |_| 1.0);
            }
        }
        let Some(target) = self.target else {
            return;
        };
        self.add("likelihood.noise".into(), Units::SquaredTarget, &[], |_| {
            target * target
        });
        self.add("likelihood.scale".into(), Units::Target, &[], |_| target);
        let values = |path: &str| {
            let found = parameters.iter().find(|parameter| parameter.path == path);
            found.map_or(&[][..], |parameter| &parameter.values)
        };
        let target_mean = self.standardizer.target_mean;
        // Of several functions, only the first is on the scale of the target.
        if values("mean.constant").len() == 1 {
            self.shifted("mean.constant", target, target_mean);
        }
        let weights = values("mean.weights");
        let (scales, means) = (
            &self.standardizer.input_scale,
            &self.standardizer.input_mean,
        );
        if weights.len() == scales.len() && values("mean.offset").len() == 1 {
            let slopes = weights
                .iter()
                .zip(scales)
                .map(|(weight, scale)| weight * target / scale);
            let at_zero: f64 = slopes.zip(means).map(|(slope, mean)| slope * mean).sum();
            let columns: Vec<usize> = (0..scales.len()).collect();
            let factor = |scale: f64| target / scale;
            self.add(
                "mean.weights".into(),
                Units::TargetPerInput,
                &columns,
                factor,
            );
            self.shifted("mean.offset", target, target_mean - at_zero);
        }
    }

    fn shifted(&mut self, path: &str, factor: f64, shift: f64) {
        self.add(path.into(), Units::Target, &[], |_| factor);
        if let Some(conversion) = self.known.get_mut(path) {
            conversion.shift = shift;
        }
    }
}
