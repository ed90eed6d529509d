//! The polynomial kernel.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use rand::rngs::ChaCha8Rng;

use super::{
    AnyKernel, Kernel, KernelDefinition, KernelInputs, NoFunctionDraws, PriorFeatures,
    definition::positive,
    points::{no_variances, require_fit, with_offset},
    prior_features::Monomials,
};
use crate::{
    ops::ExactMatmul,
    parameter::{Positive, defaults},
    register,
};

/// `k(x, x′) = (Σ_d σ_d²·x_d·x′_d + c)^q`: Bayesian regression on all products of up to q inputs
/// (Rasmussen and Williams, *Gaussian Processes for Machine Learning*, 2006, §4.2.2).
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{KernelConfig, KernelModule, Polynomial, PolynomialConfig};
///
/// let device = Device::default();
/// let kernel = Polynomial::new(&[1.0], 1.0, 2, &device);
/// let x = Tensor::<2>::from_data([[1.0], [2.0]], &device);
/// let values: Vec<f64> = kernel.matrix_at(x.clone()).into_data().iter().collect();
/// // (1·2 + 1)²
/// assert!((values[1] - 9.0).abs() < 1e-4);
///
/// let config = PolynomialConfig { degree: 2, ..Default::default() };
/// let same = KernelConfig::from(config).init(1, &device);
/// assert_eq!(same.matrix_at(x.clone()).into_data(), kernel.matrix_at(x).into_data());
/// ```
#[derive(Module, Debug)]
pub struct Polynomial {
    variance: Positive,
    offset: Positive,
    #[module(skip)]
    degree: usize,
}

defaults! {
    /// Configuration of a [`Polynomial`] kernel.
    #[serde(default, deny_unknown_fields)]
    pub struct PolynomialConfig {
        /// One variance per input dimension (ARD) instead of one for all.
        pub ard: bool = true,
        /// The initial value of every variance.
        pub variance: f64 = 1.0,
        /// The initial value of the offset.
        pub offset: f64 = 1.0,
        /// The degree.
        pub degree: usize = 2,
    }
}

register!(
    Kernel,
    "polynomial",
    PolynomialConfig,
    "Polynomials of a given degree"
);

impl KernelDefinition for PolynomialConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        let variances = inputs.values(self.ard, self.variance);
        let mut kernel = Polynomial::new(&variances, self.offset, self.degree, options);
        kernel.variance = kernel.variance.repeated(inputs.coordinates);
        kernel.boxed()
    }

    fn share_parameters(&mut self) {
        self.ard = false;
    }

    positive!(variance offset degree);
}

impl Polynomial {
    /// Creates a polynomial kernel of degree q with variances σ² (one, or one per dimension) and
    /// offset c.
    ///
    /// # Panics
    ///
    /// If the degree is zero, or a variance or the offset is not positive.
    #[track_caller]
    pub fn new(
        variances: &[f64],
        offset: f64,
        degree: usize,
        options: impl Into<TensorCreationOptions>,
    ) -> Self {
        assert!(degree > 0, "a polynomial kernel of degree 0; use Constant");
        let options = options.into();
        Self {
            variance: Positive::new(variances, options.clone()),
            offset: Positive::new(&[offset], options),
            degree,
        }
    }

    /// `bᵠ` by repeated multiplication, which also works for negative b.
    fn power<const D: usize>(&self, base: Tensor<D>) -> Tensor<D> {
        (1..self.degree).fold(base.clone(), |power, _| power * base.clone())
    }
}

impl Kernel for Polynomial {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        require_fit("polynomial", &self.variance, &[&x1, &x2]);
        let weighted = x1 * self.variance.aligned(); // [B, N1, D]
        self.power(weighted.exact_matmul(x2.transpose()) + self.offset.aligned())
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        require_fit("polynomial", &self.variance, &[&x]);
        if let Some(none) = no_variances(&x) {
            return none;
        }
        let squares = x.square() * self.variance.aligned(); // [B, N, D]
        let sums = squares.sum_dim(2).squeeze_dim::<2>(2);
        self.power(sums + self.offset.aligned())
    }

    /// All products of up to q inputs, each with the root of its multinomial coefficient.
    fn prior_features(
        &self,
        dimensions: usize,
        _count: usize,
        _random: &mut ChaCha8Rng,
        _options: TensorCreationOptions,
    ) -> Result<PriorFeatures, NoFunctionDraws> {
        let count = Monomials::count(dimensions + 1, self.degree);
        NoFunctionDraws::refuse_more("Polynomial", count)?;
        let monomials = Monomials::new(dimensions + 1, self.degree);
        let (weights, offset) = (self.variance.aligned(), self.offset.aligned());
        Ok(PriorFeatures::exact(count, move |x| {
            monomials.evaluate(with_offset(x, weights.clone(), offset.clone()))
        }))
    }
}
