//! Gneiting's covariance of space and time.

use burn::{
    module::Module,
    tensor::{Tensor, TensorCreationOptions},
};

use super::{
    AnyKernel, InputScales, Kernel, KernelDefinition, KernelInputs, KernelParameter, KernelUnits,
    PartInputs,
    definition::positive,
    distances::differences,
    inputs::first_lengthscale,
    points::{at_each, covariance_shape, require_fit, set_size},
};
use crate::{
    parameter::{Fraction, Positive, aligned, defaults},
    register,
};

/// Added to squared distances before the root, whose derivative at zero is infinite. It changes no digit of a
/// covariance.
const TINY: f64 = 1e-30;

/// `k = σ²·ψ^(−(δ + βd/2))·φ_ν(r/ψ^(β/2))`, `ψ = 1 + (|t − t′|/ℓ_t)^(2α)`: a covariance of functions of space and time
/// that is not separable. Here r is the distance in the d dimensions of space, `r² = Σ_i (x_i − x_i′)²/ℓ_i²`, and φ_ν the
/// Matérn profile of the smoothness ν = ½, 3/2 or 5/2 of [`StationaryConfig`](super::StationaryConfig), whose argument is
/// `√(2ν)·r` (T. Gneiting, *Nonseparable, Stationary Covariance Functions for Space–Time Data*, Journal of the American
/// Statistical Association 97, 2002, eq. 16).
///
/// At equal times it is a Matérn covariance in space. At one place, it is a power of ψ:
///
/// - α, from 0 to 1, is the smoothness in time: functions of time are rough for small α, and differentiable only for α = 1.
/// - δ is the rate at which values at one place are forgotten, as `|t − t′|^(−2αδ)`, beside the share βd/2 of the
///   interaction.
/// - β, from 0 to 1, is the interaction: the larger, the farther in space correlations reach after a long time. For
///   β = 0 the kernel is separable, a product of one in space and one in time.
///
/// All are trained, except for ν, for α if it starts at 1, and for β if it starts at 0 or 1.
///
/// ```
/// use burn::tensor::{Device, Tensor};
/// use burn_gp_core::kernels::{Gneiting, GneitingConfig, KernelConfig, KernelModule};
///
/// let device = Device::default();
/// // Longitude, latitude and time.
/// let x = Tensor::<2>::from_data([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0], [1.0, 0.0, 2.0]], &device);
/// let correlations = |interaction| -> Vec<f64> {
///     let kernel: Gneiting = GneitingConfig { interaction, ..Default::default() }.init(3, &device);
///     kernel.matrix_at(x.clone()).into_data().iter().collect()
/// };
/// // Without interaction, the correlation in space and time is the product of both. With it, it is larger.
/// let separable = correlations(0.0);
/// assert!((separable[3] - separable[1] * separable[2]).abs() < 1e-6);
/// let both = correlations(1.0);
/// assert!(both[3] > both[1] * both[2] + 0.01);
/// // The kernel of a model is of any type.
/// let config = GneitingConfig::default().with_dimension(Some(0));
/// let kernel = KernelConfig::from(config).init(3, &device);
/// assert_eq!(kernel.diagonal_at(x).dims(), [4]);
/// ```
#[derive(Module, Debug)]
pub struct Gneiting {
    /// σ², `[1]`
    variance: Positive,
    /// ℓ, of each dimension of space or `[1]`
    lengthscale: Positive,
    /// ℓ_t, `[1]`
    time_lengthscale: Positive,
    /// α, `[1]`; `None` for 1
    time_smoothness: Option<Fraction>,
    /// β, `[1]`; `None` for an end of the range
    interaction: Option<Fraction>,
    /// δ, `[1]`
    decay: Positive,
    /// ν of φ
    #[module(skip)]
    smoothness: SpaceSmoothness,
    /// β without a parameter.
    #[module(skip)]
    fixed_interaction: f64,
    /// The columns of space and of the time.
    #[module(skip)]
    columns: [Vec<usize>; 2],
}

/// The smoothness ν of a Matérn profile with a closed form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpaceSmoothness {
    /// ½
    Half,
    /// 3/2
    ThreeHalves,
    /// 5/2
    FiveHalves,
}

impl SpaceSmoothness {
    fn of(value: f64) -> Result<Self, String> {
        let all = [
            (0.5, Self::Half),
            (1.5, Self::ThreeHalves),
            (2.5, Self::FiveHalves),
        ];
        let known = all.into_iter().find(|(number, _)| *number == value);
        known
            .map(|(_, smoothness)| smoothness)
            .ok_or_else(|| format!("smoothness {value}; it must be 0.5, 1.5 or 2.5"))
    }

    /// `φ_ν(r)` of r².
    fn profile(self, squares: Tensor<3>) -> Tensor<3> {
        let distances = (squares.clone() + TINY).sqrt();
        match self {
            Self::Half => distances.neg().exp(),
            Self::ThreeHalves => {
                let z = distances * 3f64.sqrt();
                (z.clone() + 1.0) * z.neg().exp()
            }
            Self::FiveHalves => {
                let z = distances * 5f64.sqrt();
                (z.clone() + squares * (5.0 / 3.0) + 1.0) * z.neg().exp()
            }
        }
    }
}

defaults! {
    /// Configuration of a [`Gneiting`] kernel, for two or more inputs, by default of space and then time.
    #[serde(default, deny_unknown_fields)]
    pub struct GneitingConfig {
        /// The zero-based input dimension of the time; the last if absent. All others are space.
        pub dimension: Option<usize> = None,
        /// One lengthscale for each dimension of space (ARD) instead of one for all.
        pub ard: bool = true,
        /// The initial value of every lengthscale of space; `√d` for d dimensions of space if absent.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[setters(strip_option)]
        pub lengthscale: Option<f64> = None,
        /// The smoothness ν in space, which is not trained: 0.5, 1.5 or 2.5.
        pub smoothness: f64 = 1.5,
        /// The initial value of the lengthscale of the time.
        pub time_lengthscale: f64 = 1.0,
        /// The initial value of the smoothness in time α, above 0. At 1 it stays there.
        pub time_smoothness: f64 = 0.5,
        /// The initial value of the decay δ.
        pub decay: f64 = 1.0,
        /// The initial value of the interaction β of space and time, from 0 to 1. At 0 or 1 it stays there.
        pub interaction: f64 = 0.5,
        /// The initial value of the variance.
        pub variance: f64 = 1.0,
    }
}

register!(
    Kernel,
    "gneiting",
    GneitingConfig,
    "Space and time (Gneiting), not separable; the input is that of the time, by default the last"
);

impl KernelDefinition for GneitingConfig {
    #[track_caller]
    fn build(&self, inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        Gneiting::of(self, inputs, options).boxed()
    }

    fn check(&self) -> Result<(), String> {
        SpaceSmoothness::of(self.smoothness)?;
        let time_smoothness = self.time_smoothness;
        if !is_inside(time_smoothness) && time_smoothness != 1.0 {
            return Err(format!(
                "time smoothness {time_smoothness}; it must be above 0 and at most 1"
            ));
        }
        match (0.0..=1.0).contains(&self.interaction) {
            true => Ok(()),
            false => Err(format!(
                "interaction {}; it must lie from 0 to 1",
                self.interaction
            )),
        }
    }

    fn parameters(&self) -> Vec<KernelParameter<'_>> {
        let (space, time) = (
            PartInputs::Except(self.dimension),
            PartInputs::One(self.dimension),
        );
        let lengthscale = KernelParameter::new("lengthscale", KernelUnits::Distance).on(space);
        let of_time = KernelParameter::new("time_lengthscale", KernelUnits::Distance).on(time);
        let mut all = vec![
            KernelParameter::new("variance", KernelUnits::Variance),
            lengthscale,
            of_time,
            KernelParameter::new("decay", KernelUnits::None),
        ];
        for (field, value) in [
            ("time_smoothness", self.time_smoothness),
            ("interaction", self.interaction),
        ] {
            if is_inside(value) {
                all.push(KernelParameter::new(field, KernelUnits::None));
            }
        }
        all
    }

    positive!(variance time_lengthscale decay (lengthscale));

    fn share_parameters(&mut self) {
        self.ard = false;
    }

    fn missing_dimension(&self, dimensions: usize) -> Option<usize> {
        // Space needs an input beside the time.
        let last = self.dimension.unwrap_or(1).max(1);
        (last >= dimensions).then_some(last)
    }
}

/// Whether a fraction is trained.
fn is_inside(value: f64) -> bool {
    value > 0.0 && value < 1.0
}

impl GneitingConfig {
    /// Creates the kernel for inputs of `dimensions` dimensions.
    ///
    /// # Panics
    ///
    /// If a value is out of its range, there are less than two inputs, or the input of the time does not exist.
    #[track_caller]
    pub fn init(&self, dimensions: usize, options: impl Into<TensorCreationOptions>) -> Gneiting {
        Gneiting::of(self, KernelInputs::new(dimensions), options.into())
    }
}

impl Gneiting {
    #[track_caller]
    fn of(config: &GneitingConfig, inputs: KernelInputs, options: TensorCreationOptions) -> Self {
        assert!(
            config.missing_dimension(inputs.dimensions).is_none(),
            "a Gneiting kernel of {} inputs with the time in {:?}, counted from zero; expected two or more inputs \
             and the time in one of them",
            inputs.dimensions,
            config.dimension
        );
        let smoothness = match config.check().and(SpaceSmoothness::of(config.smoothness)) {
            Ok(smoothness) => smoothness,
            Err(reason) => panic!("a Gneiting kernel with {reason}"),
        };
        let time = config.dimension.unwrap_or(inputs.dimensions - 1);
        let (times, space): (Vec<usize>, Vec<usize>) =
            (0..inputs.columns()).partition(|column| column % inputs.dimensions == time);
        let lengthscale = first_lengthscale(config.lengthscale, inputs.dimensions - 1);
        let count = if config.ard { inputs.dimensions - 1 } else { 1 };
        let positive = |values: &[f64]| Positive::new(values, options.clone());
        let fraction =
            |value: f64| is_inside(value).then(|| Fraction::new(&[value], options.clone()));
        Self {
            variance: positive(&[config.variance]),
            lengthscale: positive(&vec![lengthscale; count]).repeated(inputs.coordinates),
            time_lengthscale: positive(&[config.time_lengthscale]),
            time_smoothness: fraction(config.time_smoothness),
            interaction: fraction(config.interaction),
            decay: positive(&[config.decay]),
            smoothness,
            fixed_interaction: config.interaction,
            columns: [space, times],
        }
    }

    /// Panics unless the points have the columns of the kernel.
    #[track_caller]
    fn check(&self, points: &[&Tensor<3>]) {
        require_fit("Gneiting", &self.variance, points);
        let expected: usize = self.columns.iter().map(Vec::len).sum();
        let sizes: Vec<[usize; 2]> = points.iter().map(|points| set_size(points)).collect();
        assert!(
            sizes.iter().all(|&[_, columns]| columns == expected),
            "the Gneiting kernel at points {sizes:?}; expected [N, {expected}] each"
        );
    }

    /// α of each member, `[B, 1, 1]`; `None` for 1.
    fn time_smoothness(&self) -> Option<Tensor<3>> {
        let members = self.variance.members();
        let smoothness = self.time_smoothness.as_ref()?;
        Some(aligned(smoothness.value(), members))
    }

    /// β of each member, `[B, 1, 1]`.
    fn interaction(&self) -> Tensor<3> {
        match &self.interaction {
            Some(interaction) => aligned(interaction.value(), self.variance.members()),
            None => {
                let variance = self.variance.aligned::<3>();
                variance.zeros_like() + self.fixed_interaction
            }
        }
    }

    /// `log ψ`, `[B, N1, N2]`, from squared differences of times.
    fn log_psi(&self, squares: Tensor<3>) -> Tensor<3> {
        let squares = squares / self.time_lengthscale.aligned::<3>().square();
        let powers = match self.time_smoothness() {
            None => squares,
            Some(smoothness) => {
                // At equal times the power is zero, and so are its derivatives.
                let is_same = squares.clone().equal_elem(0.0);
                let logarithms = squares.mask_fill(is_same.clone(), 1.0).log();
                (logarithms * smoothness).exp().mask_fill(is_same, 0.0)
            }
        };
        powers.log1p()
    }
}

impl Kernel for Gneiting {
    fn covariance(&self, x1: Tensor<3>, x2: Tensor<3>) -> Tensor<3> {
        self.check(&[&x1, &x2]);
        let [space, times] = &self.columns;
        let zeros = Tensor::zeros(covariance_shape(&x1, &x2), (&x1.device(), x1.dtype()));
        let square = |column| differences(x1.clone(), x2.clone(), column).square();
        let of_times = (times.iter()).fold(zeros.clone(), |sum, &column| sum + square(column));
        let lengthscale = self.lengthscale.aligned::<3>(); // [B, 1, d] or [B, 1, 1]
        let [.., count] = lengthscale.dims();
        let of_space = (space.iter().enumerate()).fold(zeros, |sum, (index, &column)| {
            let own = lengthscale.clone().narrow(2, index.min(count - 1), 1);
            sum + square(column) / own.square()
        });

        let log_psi = self.log_psi(of_times);
        let interaction = self.interaction();
        // r²/ψ^β
        let squares = of_space * (log_psi.clone() * interaction.clone()).neg().exp();
        let power = self.decay.aligned::<3>() + interaction * (0.5 * space.len() as f64);
        let decay = (log_psi * power).neg().exp();
        self.smoothness.profile(squares) * decay * self.variance.aligned()
    }

    fn diagonal(&self, x: Tensor<3>) -> Tensor<2> {
        self.check(&[&x]);
        at_each(self.variance.value(), &x)
    }

    fn input_scales(&self, dimensions: usize) -> Option<InputScales> {
        let [space, _] = &self.columns;
        let of_time = self.time_lengthscale.to_vec()[0];
        let mut lengthscales = vec![of_time; dimensions];
        for (column, lengthscale) in space.iter().zip(self.lengthscale.for_each(space.len())) {
            lengthscales[*column] = lengthscale;
        }
        Some(InputScales {
            variance: self.variance.to_vec()[0],
            lengthscales,
        })
    }
}
