//! Standardizers of transformed columns, and the units of scores.

use crate::column_transforms::ColumnTransforms;
use crate::dataset::Dataset;
use crate::standardizer::Standardizer;
use crate::transform::TargetTransform;

impl Standardizer {
    /// Whether the transformation of an input, if there is one, takes a value.
    pub fn takes_input(&self, input: usize, value: f64) -> bool {
        let mut transforms = self.input_transforms.iter();
        let own = transforms.find(|(other, _)| *other == input);
        own.is_none_or(|(_, transform)| transform.name().takes(value))
    }

    /// The standard deviation of the training targets in the units of the data; 1 if they are not scaled.
    pub fn data_scale(&self) -> f64 {
        let own = self.target_transform.as_ref();
        own.map_or(self.target_scale, |own| own.data_scale)
    }

    /// Targets in standard deviations of the training targets from their mean, whatever the transformation.
    pub fn in_deviations(&self, targets: &[f64]) -> Vec<f64> {
        let (mean, scale) = match &self.target_transform {
            Some(own) => (own.data_mean, own.data_scale),
            None => (self.target_mean, self.target_scale),
        };
        targets
            .iter()
            .map(|target| (target - mean) / scale)
            .collect()
    }

    /// What the log density of each target, [in deviations](Self::in_deviations), has in addition to that of the
    /// transformed and standardized target: `log g′(y) + log(data_scale/target_scale)`, the logarithm of the Jacobian.
    /// 0 without a transformation.
    pub fn log_slopes(&self, targets: &[f64]) -> Vec<f64> {
        let Some(own) = &self.target_transform else {
            return vec![0.0; targets.len()];
        };
        let scales = (own.data_scale / self.target_scale).ln();
        let slope = |&target: &f64| own.transform.log_slope(target) + scales;
        targets.iter().map(slope).collect()
    }

    /// With the transformations of columns. `self` has the statistics of the transformed rows; those of the rows
    /// `train` of `data`, before, are kept for the target.
    ///
    /// # Panics
    /// When `train` is empty or contains a row that is not in `data`.
    pub fn with_transforms(
        self,
        transforms: ColumnTransforms,
        data: &Dataset,
        train: &[usize],
    ) -> Self {
        let target = transforms.target.map(|transform| {
            let before = Self::fit(data, train);
            TargetTransform {
                transform,
                data_mean: before.target_mean,
                data_scale: before.target_scale,
            }
        });
        Self {
            input_transforms: transforms.inputs,
            target_transform: target,
            ..self
        }
    }
}
