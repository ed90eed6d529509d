//! The named kernels and their arguments.

use burn_gp_core::{
    features::PerceptronConfig,
    kernels::{
        ArcCosineConfig, ArcCosineOrder, Change, ChangePointConfig, ConstantConfig, CosineConfig,
        GibbsConfig, KernelConfig, LinearConfig, PolynomialConfig, RationalQuadraticConfig,
        SpectralMixtureConfig, StationaryConfig, WhiteConfig,
    },
    ops::Stationary,
};
use serde_json::json;

use super::{KernelExpressionError, arguments::Arguments};

/// Defines the names of kernels and of their options.
macro_rules! kernel_names {
    ($($kernel:ident = $name:literal [$($option:literal),*]),+ $(,)?) => {
        /// The name of a kernel.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum KernelName {
            $($kernel,)+
            /// Another kernel, whose options are the fields of its configuration.
            OfFields(&'static str),
        }

        impl KernelName {
            const ALL: &[Self] = &[$(Self::$kernel),+];

            /// The name in kernel expressions.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kernel => $name,)+
                    Self::OfFields(name) => name,
                }
            }

            /// The options of the kernel, if they are listed here.
            pub fn options(self) -> Option<&'static [&'static str]> {
                match self {
                    $(Self::$kernel => Some(&[$($option),*]),)+
                    Self::OfFields(_) => None,
                }
            }
        }
    };
}

kernel_names! {
    Rbf = "rbf" ["lengthscale", "variance", "ard"],
    Matern12 = "matern12" ["lengthscale", "variance", "ard"],
    Matern32 = "matern32" ["lengthscale", "variance", "ard"],
    Matern52 = "matern52" ["lengthscale", "variance", "ard"],
    RationalQuadratic = "rational-quadratic" ["lengthscale", "variance", "shape"],
    Linear = "linear" ["variance", "ard"],
    Polynomial = "polynomial" ["degree", "variance", "offset"],
    ArcCosine = "arc-cosine" ["order", "weight-variance", "bias-variance", "variance"],
    Cosine = "cosine" ["period", "variance"],
    SpectralMixture = "spectral-mixture"
        ["components", "highest-frequency", "lengthscale", "variance"],
    Gibbs = "gibbs" ["lengthscale", "variance", "layers", "width", "seed"],
    Constant = "constant" ["variance"],
    White = "white" ["variance"],
    Scaled = "scaled" ["outputscale"],
    Periodic = "periodic" ["period"],
    Deep = "deep" ["features", "layers", "width", "seed"],
    ChangePoint = "change-point" ["input", "location", "steepness"],
}

impl KernelName {
    /// Finds the kernel with this name.
    ///
    /// # Errors
    ///
    /// If there is none; the error contains the most similar name.
    pub fn find(name: &str, place: usize) -> Result<Self> {
        if let Some(kernel) = Self::ALL.iter().find(|kernel| kernel.name() == name) {
            return Ok(*kernel);
        }
        if let Some(other) = KernelConfig::names().find(|other| *other == name) {
            return Ok(Self::OfFields(other));
        }
        let registered = || KernelConfig::names().skip(KernelConfig::NAMES.len());
        let names = || {
            Self::ALL
                .iter()
                .map(|kernel| kernel.name())
                .chain(registered())
        };
        let similarity = |other: &&str| strsim::jaro_winkler(name, other);
        let nearest = names().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
        Err(KernelExpressionError::UnknownKernel {
            place,
            name: name.to_owned(),
            nearest: nearest.unwrap_or_default().to_owned(),
            known: names().collect::<Vec<_>>().join(", "),
        })
    }
}

impl KernelName {
    /// The path of the parameter that an option sets. For a mixture, which sets it for all components, this is
    /// the path in the first one.
    pub fn path(self, option: &str) -> String {
        match (self, option) {
            (Self::SpectralMixture, "highest-frequency") => "components.0.frequency".into(),
            (Self::SpectralMixture, "lengthscale" | "variance") => format!("components.0.{option}"),
            _ => option.replace('-', "_"),
        }
    }
}

type Result<T = KernelConfig> = core::result::Result<T, KernelExpressionError>;

/// Builds the kernel that a name and its arguments describe.
///
/// # Errors
///
/// If there are too many or too few arguments, or a value is out of range.
pub fn build(arguments: &Arguments) -> Result {
    match arguments.kernel {
        KernelName::Rbf => stationary(arguments, Stationary::SquaredExponential),
        KernelName::Matern12 => stationary(arguments, Stationary::Matern12),
        KernelName::Matern32 => stationary(arguments, Stationary::Matern32),
        KernelName::Matern52 => stationary(arguments, Stationary::Matern52),
        KernelName::RationalQuadratic => rational_quadratic(arguments),
        KernelName::Linear => {
            let [] = arguments.operands()?;
            let variance = arguments.positive("variance", 1.0)?;
            let config = LinearConfig::default().with_variance(variance);
            Ok(config.with_ard(ard(arguments)?).into())
        }
        KernelName::Polynomial => polynomial(arguments),
        KernelName::ArcCosine => arc_cosine(arguments),
        KernelName::Cosine => cosine(arguments),
        KernelName::SpectralMixture => spectral_mixture(arguments),
        KernelName::Gibbs => gibbs(arguments),
        KernelName::Constant => {
            let [] = arguments.operands()?;
            let variance = arguments.positive("variance", 1.0)?;
            Ok(KernelConfig::Constant(ConstantConfig { variance }))
        }
        KernelName::White => {
            let [] = arguments.operands()?;
            let variance = arguments.positive("variance", 1.0)?;
            Ok(KernelConfig::White(WhiteConfig { variance }))
        }
        KernelName::Scaled => {
            let [base] = arguments.operands()?;
            Ok(base.scaled(arguments.positive("outputscale", 1.0)?))
        }
        KernelName::Periodic => {
            let [base] = arguments.operands()?;
            Ok(base.periodic(arguments.positive("period", 1.0)?))
        }
        KernelName::Deep => {
            let [base] = arguments.operands()?;
            Ok(base.deep(network(arguments)?, arguments.size("features", 2)?))
        }
        KernelName::ChangePoint => change_point(arguments),
        KernelName::OfFields(name) => of_fields(name, arguments),
    }
}

/// A kernel from the fields of its configuration. A single kernel in parentheses becomes the field `base`; two
/// kernels become `first` and `second`.
fn of_fields(name: &str, arguments: &Arguments) -> Result {
    let mut fields = arguments.fields();
    let operands: &[&str] = match arguments.operands.len() {
        0 => &[],
        1 => &["base"],
        2 => &["first", "second"],
        found => {
            return Err(KernelExpressionError::Operands {
                place: arguments.place,
                kernel: arguments.kernel.name(),
                expected: "at most two kernels",
                found,
            });
        }
    };
    for (field, kernel) in operands.iter().zip(&arguments.operands) {
        fields.insert((*field).into(), json!(kernel));
    }
    fields.insert("kernel".into(), json!(name));
    serde_json::from_value(fields.into()).map_err(|reason| KernelExpressionError::Fields {
        place: arguments.place,
        kernel: arguments.kernel.name(),
        reason: burn_gp_models::explained(&reason),
    })
}

fn stationary(arguments: &Arguments, kind: Stationary) -> Result {
    let [] = arguments.operands()?;
    let config = StationaryConfig {
        lengthscale: arguments.positive_if_given("lengthscale")?,
        ard: ard(arguments)?,
        ..StationaryConfig::new(kind)
    };
    Ok((config.with_variance(arguments.positive("variance", 1.0)?)).into())
}

/// Whether each input has its own parameter, which is the default.
fn ard(arguments: &Arguments) -> Result<bool> {
    arguments.choice("ard", &[(0.0, false), (1.0, true)], true, "0 or 1")
}

fn rational_quadratic(arguments: &Arguments) -> Result {
    let [] = arguments.operands()?;
    let default = RationalQuadraticConfig::default();
    Ok(KernelConfig::RationalQuadratic(RationalQuadraticConfig {
        lengthscale: arguments.positive_if_given("lengthscale")?,
        variance: arguments.positive("variance", default.variance)?,
        shape: arguments.positive("shape", default.shape)?,
        ..default
    }))
}

fn polynomial(arguments: &Arguments) -> Result {
    let [] = arguments.operands()?;
    let default = PolynomialConfig::default();
    Ok(KernelConfig::Polynomial(PolynomialConfig {
        degree: arguments.size("degree", default.degree)?,
        variance: arguments.positive("variance", default.variance)?,
        offset: arguments.positive("offset", default.offset)?,
        ..default
    }))
}

fn arc_cosine(arguments: &Arguments) -> Result {
    let [] = arguments.operands()?;
    let default = ArcCosineConfig::default();
    let orders = [
        (0.0, ArcCosineOrder::Step),
        (1.0, ArcCosineOrder::Ramp),
        (2.0, ArcCosineOrder::Quadratic),
    ];
    Ok(KernelConfig::ArcCosine(ArcCosineConfig {
        order: arguments.choice("order", &orders, default.order, "0, 1 or 2")?,
        weight_variance: arguments.positive("weight-variance", default.weight_variance)?,
        bias_variance: arguments.positive("bias-variance", default.bias_variance)?,
        variance: arguments.positive("variance", default.variance)?,
        ..default
    }))
}

fn cosine(arguments: &Arguments) -> Result {
    let [] = arguments.operands()?;
    let default = CosineConfig::default();
    Ok(KernelConfig::Cosine(CosineConfig {
        period: arguments.positive("period", default.period)?,
        variance: arguments.positive("variance", default.variance)?,
        ..default
    }))
}

fn spectral_mixture(arguments: &Arguments) -> Result {
    let [] = arguments.operands()?;
    let default = SpectralMixtureConfig::default();
    let frequency = arguments.positive("highest-frequency", default.highest_frequency)?;
    Ok(KernelConfig::SpectralMixture(SpectralMixtureConfig {
        components: arguments.size("components", default.components)?,
        highest_frequency: frequency,
        lengthscale: arguments.positive("lengthscale", default.lengthscale)?,
        variance: arguments.positive("variance", default.variance)?,
    }))
}

fn gibbs(arguments: &Arguments) -> Result {
    let [] = arguments.operands()?;
    let default = GibbsConfig::default();
    Ok(KernelConfig::Gibbs(GibbsConfig {
        network: network(arguments)?,
        lengthscale: arguments.positive_if_given("lengthscale")?,
        variance: arguments.positive("variance", default.variance)?,
        ..default
    }))
}

fn change_point(arguments: &Arguments) -> Result {
    let [first, second] = arguments.operands()?;
    let default = Change::default();
    Ok(KernelConfig::ChangePoint(ChangePointConfig {
        first,
        second,
        change: Change {
            dimension: arguments.count("input", default.dimension + 1)? - 1,
            location: arguments.number("location", default.location),
            steepness: arguments.positive("steepness", default.steepness)?,
        },
    }))
}

fn network(arguments: &Arguments) -> Result<PerceptronConfig> {
    let default = PerceptronConfig::default();
    let width = default.hidden.first().copied().unwrap_or(1);
    Ok(PerceptronConfig {
        hidden: vec![
            arguments.size("width", width)?;
            arguments.size("layers", default.hidden.len())?
        ],
        seed: arguments.number("seed", 0.0) as u64,
        ..default
    })
}
