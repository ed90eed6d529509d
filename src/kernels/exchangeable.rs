//! Categories whose levels are all equally alike.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use super::{
    AnyKernel, Kernel, KernelDefinition, KernelInputs, KernelParameter, KernelUnits,
    definition::positive,
    levels::equal,
    points::{at_each, covariance_shape, require_dimensions, require_fit},
};
use crate::{
    parameter::{Fraction, Positive, aligned, defaults},
    register,
};

/// `k(c, c′) = σ²·Π_d ρ_d^[c_d ≠ c′_d]` with 0 < ρ < 1: in each input dimension, all pairs of different values have
/// correlation ρ, whatever their distance. It is the exchangeable kernel of one category (compound symmetry), and a
/// function of the Hamming distance of several.
///
/// One level shares with each other a function of variance `ρ·σ²`, and the rest is its own. An unseen level has
/// the same correlation with all others, so it keeps what levels share.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{Exchangeable, ExchangeableConfig, KernelConfig, KernelModule};
///
/// let device = Device::default();
/// let kernel = Exchangeable::new(2.0, &[0.25], &device);
/// let levels = Tensor::<2>::from_data([[0.0], [7.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(levels.clone()).into_data().iter().collect();
/// assert!((values[0] - 2.0).abs() < 1e-6 && (values[1] - 0.5).abs() < 1e-6);
///
/// let config = ExchangeableConfig::default().with_variance(2.0).with_correlation(0.25);
/// let same = KernelConfig::from(config).init(1, &device);
/// assert_eq!(same.matrix_at(levels.clone()).into_data(), kernel.matrix_at(levels).into_data());
/// ```
#[derive(Module, Debug)]
pub struct Exchangeable {
    /// σ², `[1]`
    variance: Positive,
    /// ρ, `[D]` or `[1]`
    correlation: Fraction,
}

defaults! {
    /// Configuration of an [`Exchangeable`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct ExchangeableConfig {
        /// One correlation for each input dimension instead of one for all.
        pub ard: bool = true,
        /// The initial value of the variance.
        pub variance: f64 = 1.0,
        /// The initial value of every correlation, between 0 and 1.
        pub correlation: f64 = 0.5,
    }
}

register!(
    Kernel,
    "exchangeable",
    ExchangeableConfig,
    "A category whose levels are all equally correlated with each other"
);

impl KernelDefinition for ExchangeableConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let count = if self.ard { inputs.columns() } else { 1 };
        Exchangeable::new(self.variance, &vec![self.correlation; count], options).boxed()
    }

    fn check(&self) -> Result<(), String> {
        match self.correlation > 0.0 && self.correlation < 1.0 {
            true => Ok(()),
            false => Err(format!(
                "correlation {}; it must lie between 0 and 1",
                self.correlation
            )),
        }
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        vec![
            KernelParameter::new("variance", KernelUnits::Variance),
            KernelParameter::new("correlation", KernelUnits::None),
        ]
    }

    positive!(variance);

    fn share_parameters(&mut self) {
        self.ard = false;
    }

    fn level_dimensions(&self, dimensions: usize) -> Vec<(usize, Option<usize>)> {
        (0..dimensions).map(|dimension| (dimension, None)).collect()
    }

    /// Columns of one group stay columns of their own.
    fn share_among(&mut self, _groups: &[usize]) {}
}

impl Exchangeable {
    /// Creates the kernel from the variance and one correlation for each input dimension, or one for all.
    ///
    /// # Panics
    ///
    /// If the variance is not positive, or a correlation does not lie between 0 and 1.
    #[track_caller]
    pub fn new(
        variance: f64,
        correlation: &[f64],
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        let options = options.into();
        Self {
            variance: Positive::new(&[variance], options.clone()),
            correlation: Fraction::new(correlation, options),
        }
    }
}

impl Exchangeable {
    /// ρ of each member, `[B, 1, D]` or `[B, 1, 1]`.
    fn correlations(&self) -> Tensor<3> {
        aligned(self.correlation.value(), self.variance.members())
    }
}

impl Kernel for Exchangeable {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        let correlations = self.correlations();
        let [members, _, count] = correlations.dims();
        require_dimensions("exchangeable", count, &[&x1, &x2]);
        require_fit("exchangeable", &self.variance, &[&x1, &x2]);
        let [batch, rows, columns] = covariance_shape(&x1, &x2);
        let variance = self.variance.aligned::<3>(); // [B, 1, 1]
        let first = variance.expand([batch.max(members), rows, columns]);
        let (x1, x2) = (x1.detach(), x2.detach());
        (0..x1.dims()[2]).fold(first, |product, d| {
            let own = correlations.clone().narrow(2, d.min(count - 1), 1);
            let same = equal(&x1.clone().narrow(2, d, 1), &x2.clone().narrow(2, d, 1));
            let differ = same.neg() + 1.0;
            // 1 for equal values, ρ for others
            product * (differ * (own - 1.0) + 1.0)
        })
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        let [_, _, count] = self.correlations().dims();
        require_dimensions("exchangeable", count, &[&x]);
        require_fit("exchangeable", &self.variance, &[&x]);
        at_each(self.variance.value(), &x)
    }
}
