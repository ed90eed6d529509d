//! The configuration of any kernel.

use std::collections::{BTreeMap, BTreeSet};

use burn::tensor::{Tensor, TensorCreationOptions};

use super::{
    ActiveDimensionsConfig, AnyKernel, DeepConfig, Kernel, KernelDefinition, KernelInputs,
    KernelUnits, PeriodicConfig, ProductConfig, ScaledConfig, StationaryConfig, SumConfig,
};
use crate::{
    custom::ComponentConfig, features::PerceptronConfig, ops::Stationary, parameter::ParameterError,
};

/// The configuration of any kernel, as stored in a model file.
///
/// Missing fields take their defaults: one parameter per input dimension (ARD), variances of one, and
/// lengthscales of one, or `√D` for the stationary, rational quadratic and Gibbs kernels.
///
/// ```
/// use burn_gp_core::{
///     kernels::{KernelConfig, LinearConfig, StationaryConfig, SumConfig},
///     ops::Stationary,
/// };
///
/// let smooth = KernelConfig::from(StationaryConfig::new(Stationary::Matern52));
/// let kernel = smooth.plus(LinearConfig::default());
/// assert!(kernel.downcast_ref::<SumConfig>().is_some());
/// ```
pub type KernelConfig = ComponentConfig<dyn Kernel>;

/// A Matérn-5/2 kernel.
impl Default for KernelConfig {
    fn default() -> Self {
        StationaryConfig::default().into()
    }
}

impl From<Stationary> for KernelConfig {
    fn from(kind: Stationary) -> Self {
        StationaryConfig::new(kind).into()
    }
}

impl KernelConfig {
    /// Adds another kernel.
    pub fn plus(self, other: impl Into<Self>) -> Self {
        SumConfig {
            first: self,
            second: other.into(),
        }
        .into()
    }

    /// Multiplies by another kernel.
    pub fn times(self, other: impl Into<Self>) -> Self {
        ProductConfig {
            first: self,
            second: other.into(),
        }
        .into()
    }

    /// Multiplies the kernel by a trained output scale.
    pub fn scaled(self, outputscale: f64) -> Self {
        ScaledConfig {
            base: self,
            outputscale,
        }
        .into()
    }

    /// Applies the kernel to the given zero-based input dimensions.
    pub fn on_dimensions(self, dimensions: Vec<usize>) -> Self {
        ActiveDimensionsConfig {
            base: self,
            dimensions,
        }
        .into()
    }

    /// Makes the kernel periodic, with one period per input dimension.
    pub fn periodic(self, period: f64) -> Self {
        PeriodicConfig {
            base: self,
            ard: true,
            period,
        }
        .into()
    }

    /// Applies the kernel to the features of a network.
    pub fn deep(self, network: PerceptronConfig, features: usize) -> Self {
        DeepConfig {
            base: self,
            network,
            features,
        }
        .into()
    }

    /// Shares one parameter among all input dimensions wherever there is one per dimension.
    pub fn isotropic(mut self) -> Self {
        self.share_parameters();
        self
    }

    /// Shares one lengthscale (in linear kernels, one variance) among all inputs with the same number
    /// in `groups`, such as the indicator columns of a category: all pairs of different levels then
    /// have the same covariance. Kernels inside periodic and deep kernels do not change.
    ///
    /// ```
    /// use burn::tensor::Device;
    /// use burn_gp_core::{kernels::{KernelConfig, StationaryConfig}, parameter::hyperparameters};
    ///
    /// // A numeric input, and a category with three levels.
    /// let kernel = KernelConfig::from(StationaryConfig::rbf()).sharing(&[0, 1, 1, 1]);
    /// let kernel = kernel.init(4, &Device::default());
    /// let lengthscale = hyperparameters(&kernel).remove(0);
    /// assert_eq!((lengthscale.path.as_str(), lengthscale.values.len()), ("lengthscale", 2));
    /// ```
    ///
    /// # Panics
    ///
    /// If the group numbers are not 0, 1, 2, … without gaps.
    #[track_caller]
    pub fn sharing(mut self, groups: &[usize]) -> Self {
        let count = groups.iter().max().map_or(0, |largest| largest + 1);
        let distinct: BTreeSet<usize> = groups.iter().copied().collect();
        assert!(
            distinct.len() == count,
            "groups of inputs {groups:?}; expected the numbers 0, 1, 2, ... without gaps"
        );
        if count < groups.len() {
            self.share_among(groups);
        }
        self
    }

    /// Checks the values of the configuration for inputs of `dimensions` dimensions. `path` is the
    /// path of the kernel in its model, for error messages.
    ///
    /// # Errors
    ///
    /// When a positive value is not positive, a count is zero, or an input dimension does not exist.
    pub fn check_for(&self, path: &str, dimensions: usize) -> Result<(), ParameterError> {
        self.check_values(path)?;
        let path = path.to_owned();
        match self.missing_dimension(dimensions) {
            None if dimensions > 0 => (self.check_inputs(dimensions))
                .map_err(|reason| ParameterError::Refused { path, reason }),
            missing => Err(ParameterError::MissingInput {
                path,
                input: missing.unwrap_or(0),
                inputs: dimensions,
            }),
        }
    }

    fn check_values(&self, path: &str) -> Result<(), ParameterError> {
        for (name, value) in self.positive() {
            if let Some(value) = value {
                ParameterError::check_positive(&format!("{path}.{name}"), value)?;
            }
        }
        let checked = KernelDefinition::check(&**self);
        if let Err(reason) = checked.and_then(|()| self.check_for_build()) {
            let path = path.to_owned();
            return Err(ParameterError::Refused { path, reason });
        }
        let mut parts = self.parts().into_iter();
        parts.try_for_each(|part| part.kernel.check_values(&format!("{path}.{}", part.name)))
    }

    /// The paths of the variances that together multiply the covariances: those of every term of a sum,
    /// and of the first factor of a product.
    ///
    /// ```
    /// use burn_gp_core::kernels::{KernelConfig, LinearConfig};
    ///
    /// let kernel = KernelConfig::default().times(LinearConfig::default());
    /// let kernel = kernel.plus(KernelConfig::default().scaled(2.0));
    /// assert_eq!(kernel.variances(), ["first.first.variance", "second.outputscale"]);
    /// ```
    pub fn variances(&self) -> Vec<String> {
        let is_variance =
            |units| matches!(units, KernelUnits::Variance | KernelUnits::SquaredSlope);
        let own = self.parameters().into_iter();
        let own = own.filter(|parameter| is_variance(parameter.units));
        let mut paths: Vec<String> = own.map(|parameter| parameter.path).collect();
        let is_scaled = !paths.is_empty();
        for (index, part) in self.parts().into_iter().enumerate() {
            if !part.is_factor || (index == 0 && !is_scaled) {
                let within = part.kernel.variances().into_iter();
                paths.extend(within.map(|path| format!("{}.{path}", part.name)));
            }
        }
        paths
    }

    /// The columns of a table whose values are codes of levels, if the inputs of the kernel are its columns
    /// `columns`. They must not be standardized.
    ///
    /// ```
    /// use burn_gp_core::kernels::{IndexConfig, KernelConfig};
    ///
    /// let levels = KernelConfig::from(IndexConfig::new(4)).on_dimensions(vec![2]);
    /// assert_eq!(KernelConfig::default().times(levels).code_columns(&[0, 1, 2]), [2]);
    /// ```
    pub fn code_columns(&self, columns: &[usize]) -> Vec<usize> {
        let own = self.code_dimension();
        let own = own.and_then(|dimension| columns.get(dimension).copied());
        let parts = self.parts().into_iter();
        let of_parts = parts.flat_map(|part| {
            let own = part.inputs.all_columns(columns).into_iter();
            own.map(move |columns| part.kernel.code_columns(&columns))
        });
        let mut found: Vec<usize> = own.into_iter().chain(of_parts.flatten()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The columns of a table that tell categories apart, if the inputs of the kernel are its columns `columns`, each
    /// with the least number of levels of the kernels on it; `None` if none has a number of levels.
    ///
    /// ```
    /// use burn_gp_core::kernels::{ExchangeableConfig, IndexConfig, KernelConfig};
    ///
    /// let levels = KernelConfig::from(IndexConfig::new(4)).on_dimensions(vec![2]);
    /// let equal = KernelConfig::from(ExchangeableConfig::default()).on_dimensions(vec![1]);
    /// assert_eq!(levels.plus(equal).level_columns(&[0, 1, 2]), [(1, None), (2, Some(4))]);
    /// ```
    pub fn level_columns(&self, columns: &[usize]) -> Vec<(usize, Option<usize>)> {
        let own = self.level_dimensions(columns.len()).into_iter();
        let own = own.filter_map(|(dimension, count)| Some((*columns.get(dimension)?, count)));
        let parts = self.parts().into_iter();
        let of_parts = parts.flat_map(|part| {
            let own = part.inputs.all_columns(columns).into_iter();
            own.map(move |columns| part.kernel.level_columns(&columns))
        });
        let mut found = BTreeMap::new();
        for (column, count) in own.chain(of_parts.flatten()) {
            let least: &mut Option<usize> = found.entry(column).or_insert(count);
            *least = [*least, count].into_iter().flatten().min();
        }
        found.into_iter().collect()
    }

    /// Groups of the columns of a table that are the same quantity of two things, if the inputs of the kernel are its
    /// columns `columns`. They must be standardized alike.
    ///
    /// ```
    /// use burn_gp_core::kernels::{KernelConfig, PreferenceConfig};
    ///
    /// let pairs = KernelConfig::from(PreferenceConfig::default()).on_dimensions(vec![1, 2, 3, 4]);
    /// assert_eq!(pairs.equal_columns(&[0, 1, 2, 3, 4]), [[1, 3], [2, 4]]);
    /// ```
    pub fn equal_columns(&self, columns: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for pair in self.equal_pairs(columns) {
            let shares = |group: &Vec<usize>| pair.iter().any(|column| group.contains(column));
            let (known, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(shares);
            let mut merged: Vec<usize> = known.into_iter().flatten().chain(pair).collect();
            merged.sort_unstable();
            merged.dedup();
            groups = others;
            groups.push(merged);
        }
        groups
    }

    fn equal_pairs(&self, columns: &[usize]) -> Vec<[usize; 2]> {
        let own = self.equal_dimensions(columns.len()).into_iter();
        let own = own.map(|pair| pair.map(|dimension| columns[dimension]));
        let parts = self.parts().into_iter();
        let of_parts = parts.flat_map(|part| {
            let own = part.inputs.all_columns(columns).into_iter();
            own.flat_map(move |columns| part.kernel.equal_pairs(&columns))
        });
        own.chain(of_parts).collect()
    }

    /// The ones of `dimensions` dimensions on which the kernel acts: those of an
    /// [`ActiveDimensionsConfig`], and all of any other kernel.
    ///
    /// ```
    /// use burn_gp_core::kernels::KernelConfig;
    ///
    /// assert_eq!(KernelConfig::default().active_dimensions(3), [0, 1, 2]);
    /// assert_eq!(KernelConfig::default().on_dimensions(vec![2, 0]).active_dimensions(3), [0, 2]);
    /// ```
    pub fn active_dimensions(&self, dimensions: usize) -> Vec<usize> {
        let active = self.downcast_ref::<ActiveDimensionsConfig>();
        let is_active =
            |dimension: &usize| active.is_none_or(|active| active.dimensions.contains(dimension));
        (0..dimensions).filter(is_active).collect()
    }

    /// The inputs with zeros in the dimensions on which the kernel does not act, so that rows that are equal for the
    /// kernel are equal.
    ///
    /// # Shapes
    ///
    /// - `inputs`: `[N, D]` → `[N, D]`
    pub fn without_inactive(&self, inputs: &Tensor<2>) -> Tensor<2> {
        let [_, dimensions] = inputs.dims();
        let active = self.active_dimensions(dimensions);
        if active.len() == dimensions {
            return inputs.clone();
        }
        let kept =
            (0..dimensions).map(|dimension| f64::from(u8::from(active.contains(&dimension))));
        let kept: Vec<f64> = kept.collect();
        let kept = Tensor::<1>::from_data(&kept[..], (&inputs.device(), inputs.dtype()));
        inputs.clone() * kept.unsqueeze()
    }

    /// Creates the kernel for inputs of `dimensions` dimensions.
    ///
    /// # Panics
    ///
    /// If a positive value is not positive, a count is zero, or an input dimension does not exist.
    #[track_caller]
    pub fn init(&self, dimensions: usize, options: impl Into<TensorCreationOptions>) -> AnyKernel {
        if let Err(error) = self.check_for("kernel", dimensions) {
            panic!("KernelConfig: {error}");
        }
        self.build(KernelInputs::new(dimensions), options.into())
    }
}
