//! Kernel expressions on the command line.

use burn::tensor::TensorCreationOptions;
use burn_gp_core::{
    features::PerceptronConfig,
    kernels::{
        AnyKernel, ArcCosineConfig, ArcCosineOrder, Change, ChangePointConfig, ConstantConfig,
        CosineConfig, DampedOscillatorConfig, GibbsConfig, GneitingConfig, Kernel, KernelConfig,
        KernelDefinition, KernelInputs, LinearConfig, MaternConfig, PeriodicConfig,
        PolynomialConfig, RationalQuadraticConfig, SpectralMixtureConfig, StationaryConfig, White,
        WhiteConfig,
    },
    ops::Stationary,
};
use burn_gp_runs::kernel_expression::{KernelExpression, help};
use serde::{Deserialize, Serialize};

fn parsed(text: &str) -> KernelConfig {
    match text.parse::<KernelExpression>() {
        Ok(expression) => expression.config(false),
        Err(error) => panic!("{text}: {error}"),
    }
}

fn refused(text: &str) -> String {
    match text.parse::<KernelExpression>() {
        Ok(expression) => panic!("{text} was taken for {:?}", expression.config(false)),
        Err(error) => error.to_string(),
    }
}

fn rbf() -> KernelConfig {
    Stationary::SquaredExponential.into()
}

fn matern() -> KernelConfig {
    Stationary::Matern32.into()
}

fn linear() -> KernelConfig {
    KernelConfig::from(LinearConfig {
        ard: true,
        variance: 1.0,
        ..LinearConfig::default()
    })
}

#[test]
fn products_bind_tighter_than_sums() {
    let cases = [
        ("rbf", rbf()),
        ("rbf+linear", rbf().plus(linear())),
        (
            "rbf + linear*matern32",
            rbf().plus(linear().times(matern())),
        ),
        (
            "(rbf+linear) * matern32",
            rbf().plus(linear()).times(matern()),
        ),
        ("rbf*linear*matern32", rbf().times(linear()).times(matern())),
        ("rbf+linear+matern32", rbf().plus(linear()).plus(matern())),
        ("((rbf))", rbf()),
        (
            "periodic(rbf)*matern32",
            rbf().periodic(1.0).times(matern()),
        ),
        (
            "periodic(rbf + linear, period = 2.5)",
            rbf().plus(linear()).periodic(2.5),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(parsed(text), expected, "{text}");
    }
}

#[test]
fn brackets_name_inputs_from_one() {
    let cases = [
        ("rbf[1]", rbf().on_dimensions(vec![0])),
        ("rbf[3, 1]", rbf().on_dimensions(vec![2, 0])),
        (
            "rbf*linear[2]",
            rbf().times(linear().on_dimensions(vec![1])),
        ),
        (
            "(rbf*linear)[2]",
            rbf().times(linear()).on_dimensions(vec![1]),
        ),
        (
            "rbf[3,1][2]",
            rbf().on_dimensions(vec![2, 0]).on_dimensions(vec![1]),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(parsed(text), expected, "{text}");
    }
}

/// All names with all options.
#[test]
fn names_and_options() {
    let stationary = |kind| {
        let config = StationaryConfig::new(kind).with_lengthscale(0.5);
        KernelConfig::from(config.with_variance(2.0))
    };
    let network = PerceptronConfig {
        hidden: vec![8, 8, 8],
        seed: 7,
        ..PerceptronConfig::default()
    };
    let cases = [
        (
            "rbf(lengthscale=0.5, variance=2)",
            stationary(Stationary::SquaredExponential),
        ),
        (
            "matern12(lengthscale=0.5, variance=2)",
            stationary(Stationary::Matern12),
        ),
        (
            "matern32(variance=2e0, lengthscale=.5)",
            stationary(Stationary::Matern32),
        ),
        (
            "matern52(lengthscale=5e-1, variance=2)",
            stationary(Stationary::Matern52),
        ),
        (
            "rational-quadratic(lengthscale=0.5, variance=2, shape=3)",
            KernelConfig::from(RationalQuadraticConfig {
                ard: true,
                lengthscale: Some(0.5),
                variance: 2.0,
                shape: 3.0,
            }),
        ),
        (
            "linear(variance=2)",
            KernelConfig::from(LinearConfig {
                ard: true,
                variance: 2.0,
                ..LinearConfig::default()
            }),
        ),
        (
            "polynomial(degree=3, variance=2, offset=0.5)",
            KernelConfig::from(PolynomialConfig {
                ard: true,
                variance: 2.0,
                offset: 0.5,
                degree: 3,
            }),
        ),
        (
            "arc-cosine(order=2, weight-variance=2, bias-variance=3, variance=4)",
            KernelConfig::from(ArcCosineConfig {
                order: ArcCosineOrder::Quadratic,
                ard: true,
                weight_variance: 2.0,
                bias_variance: 3.0,
                variance: 4.0,
            }),
        ),
        (
            "cosine(period=2, variance=3)",
            KernelConfig::from(CosineConfig {
                ard: true,
                period: 2.0,
                variance: 3.0,
            }),
        ),
        (
            "damped-oscillator(period=2, quality=5, variance=3)",
            KernelConfig::from(DampedOscillatorConfig {
                ard: true,
                period: 2.0,
                quality: 5.0,
                variance: 3.0,
            }),
        ),
        (
            "spectral-mixture(components=3, highest-frequency=2, lengthscale=5, variance=4)",
            KernelConfig::from(SpectralMixtureConfig {
                components: 3,
                highest_frequency: 2.0,
                lengthscale: 5.0,
                variance: 4.0,
            }),
        ),
        (
            "gibbs(lengthscale=2, variance=3, layers=3, width=8, seed=7)",
            KernelConfig::from(GibbsConfig {
                network: network.clone(),
                ard: true,
                lengthscale: Some(2.0),
                variance: 3.0,
            }),
        ),
        (
            "matern(smoothness=1.2, lengthscale=2, variance=3)",
            KernelConfig::from(MaternConfig {
                ard: true,
                lengthscale: Some(2.0),
                variance: 3.0,
                smoothness: 1.2,
            }),
        ),
        (
            "gneiting(smoothness=0.5, input=2, lengthscale=3, time-lengthscale=2, interaction=0, time-smoothness=0.9, decay=2, variance=4)",
            KernelConfig::from(GneitingConfig {
                dimension: Some(1),
                ard: true,
                lengthscale: Some(3.0),
                smoothness: 0.5,
                time_lengthscale: 2.0,
                time_smoothness: 0.9,
                decay: 2.0,
                interaction: 0.0,
                variance: 4.0,
            }),
        ),
        ("gneiting", KernelConfig::from(GneitingConfig::default())),
        (
            "constant(variance=2)",
            KernelConfig::from(ConstantConfig { variance: 2.0 }),
        ),
        (
            "white(variance=2)",
            KernelConfig::from(WhiteConfig { variance: 2.0 }),
        ),
        ("scaled(rbf, outputscale=2)", rbf().scaled(2.0)),
        (
            "deep(rbf, features=3, layers=3, width=8, seed=7)",
            rbf().deep(network, 3),
        ),
        (
            "change-point(rbf, linear, input=2, location=-1.5, steepness=3)",
            KernelConfig::from(ChangePointConfig {
                first: rbf(),
                second: linear(),
                change: Change {
                    dimension: 1,
                    location: -1.5,
                    steepness: 3.0,
                },
            }),
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(parsed(text), expected, "{text}");
    }
}

/// A kernel of this crate, as this test is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NuggetConfig {
    first_variance: f64,
}

impl KernelDefinition for NuggetConfig {
    fn check(&self) -> Result<(), String> {
        match self.first_variance > 0.0 {
            true => Ok(()),
            false => Err("the first variance is positive".into()),
        }
    }

    fn build(&self, _inputs: KernelInputs, options: TensorCreationOptions) -> AnyKernel {
        White::new(self.first_variance, options).boxed()
    }
}

burn_gp_core::register!(Kernel, "nugget", NuggetConfig, "Independent noise");

/// Kernels of other crates take the fields of their configurations, and so do those with signs.
#[test]
fn kernels_are_known_by_their_names_in_files() {
    assert_eq!(parsed("sum(rbf, linear)"), rbf().plus(linear()));
    let nugget = KernelConfig::from(NuggetConfig {
        first_variance: 0.5,
    });
    let expected = rbf().plus(nugget);
    assert_eq!(parsed("rbf + nugget(first-variance=0.5)"), expected);
    let cases = [
        (
            "nugget",
            "character 1: nugget: missing field `first_variance`",
        ),
        (
            "rbf*nugget(variance=1)",
            "character 12: nugget has no option variance; it takes first-variance",
        ),
        (
            "nugget(first-variance=0)",
            "character 1: nugget: the first variance is positive",
        ),
        (
            "product(rbf, rbf, rbf)",
            "character 1: product takes two kernels in its parentheses, found 3",
        ),
        (
            "sum",
            "character 1: sum takes two kernels in its parentheses, found 0",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(refused(text), expected, "{text}");
    }
    assert!(refused("nuget").contains("did you mean nugget?"));
}

/// The help has every kernel by its name, those of other crates among them.
#[test]
fn the_help_has_a_line_for_every_kernel() {
    let help = help();
    for line in [
        "- rbf, matern12, matern32, matern52: Radial basis function",
        "- linear: Linear functions through the origin\n",
        "- nugget: Independent noise\n",
        "- periodic(K): ",
        "- preference(K): ",
        "- change-point(K, K): ",
    ] {
        assert!(help.contains(line), "{line} is not in {help}");
    }
    assert!(!help.contains("- sum"), "{help}");
}

/// What is tiny in the units of the data need not be in standardized units.
#[test]
fn lengthscales_in_tiny_units_are_kernels() {
    let config = GibbsConfig {
        lengthscale: Some(1e-9),
        ..GibbsConfig::default()
    };
    assert_eq!(parsed("gibbs(lengthscale=1e-9)"), config.into());
}

/// Every number has the path of its parameter, and its units.
#[test]
fn numbers_have_the_paths_of_parameters() {
    let text = "rbf(lengthscale=2 std) + periodic(matern32(variance=3), period=4data)[1] * \
                change-point(cosine(period=5), linear, location=6) + (white + spectral-mixture(lengthscale=7))[2]";
    let expression: KernelExpression = text.parse().expect("a kernel");
    let numbers = expression.numbers().iter();
    let found: Vec<(&str, f64, bool)> = numbers
        .map(|number| (number.path.as_str(), number.value, number.is_standardized))
        .collect();
    let expected = [
        ("first.first.lengthscale", 2.0, true),
        ("first.second.first.base.base.variance", 3.0, false),
        ("first.second.first.base.period", 4.0, false),
        ("first.second.second.first.period", 5.0, false),
        ("first.second.second.location", 6.0, false),
        ("second.base.second.components.0.lengthscale", 7.0, false),
    ];
    assert_eq!(found, expected);
}

#[test]
fn isotropic_kernels_share_what_each_input_would_have() {
    let expression: KernelExpression = "periodic(rbf) + linear[1,2]".parse().expect("a kernel");
    let shared = StationaryConfig::new(Stationary::SquaredExponential).isotropic();
    let expected = KernelConfig::from(PeriodicConfig {
        base: shared.into(),
        ard: false,
        period: 1.0,
    });
    let linear = KernelConfig::from(LinearConfig {
        ard: false,
        variance: 1.0,
        ..LinearConfig::default()
    });
    let expected = expected.plus(linear.on_dimensions(vec![0, 1]));
    assert_eq!(expression.config(true), expected);
}

#[test]
fn mistakes_are_named_with_their_place() {
    let cases = [
        ("", "character 1: expected a kernel, found the end"),
        ("rbf+", "character 5: expected a kernel, found the end"),
        (
            "rbf linear",
            "character 5: expected +, *, [ or the end, found linear",
        ),
        (
            "rbf)",
            "character 4: expected +, *, [ or the end, found ')'",
        ),
        ("(rbf", "character 5: expected +, *, [ or ), found the end"),
        ("rbf(", "character 5: expected a kernel, found the end"),
        ("rbf()", "character 5: expected a kernel, found ')'"),
        ("rbf + ma§", "character 9: '§' is not allowed in a kernel"),
        ("2*rbf", "character 1: expected a kernel, found 2"),
        ("rbf[]", "character 5: expected a number, found ']'"),
        ("rbf[1", "character 6: expected a comma or ], found the end"),
        (
            "rbf[0]",
            "character 5: the number of an input is 0 but must be a positive whole number",
        ),
        (
            "rbf[1.5]",
            "character 5: the number of an input is 1.5 but must be a positive whole number",
        ),
        (
            "rbf(lengthscale=big)",
            "character 17: expected a number, found big",
        ),
        (
            "rbf(lengthscale=1.2.3)",
            "character 17: expected a number, found 1.2.3",
        ),
        (
            "rbf(lengthscale=-1)",
            "character 5: lengthscale is -1 but must be a positive number",
        ),
        (
            "rbf(lengthscale=1e-9 std)",
            "character 5: lengthscale is 0.000000001 but must be a number above 1e-6 in standardized units",
        ),
        (
            "rbf(lengthscale=2 days)",
            "character 19: expected a comma or ), found days",
        ),
        (
            "rbf(variance=1e999)",
            "character 14: expected a number, found 1e999",
        ),
        (
            "rbf(linear)",
            "character 1: rbf takes no kernels in its parentheses, found 1",
        ),
        ("1+periodic", "character 1: expected a kernel, found 1"),
        (
            "rbf+periodic",
            "character 5: periodic takes one kernel in its parentheses, found 0",
        ),
        (
            "change-point(rbf)",
            "character 1: change-point takes two kernels in its parentheses, found 1",
        ),
        (
            "rbf(period=2)",
            "character 5: rbf has no option period; it takes ard, lengthscale, variance",
        ),
        (
            "arc-cosine(order=3)",
            "character 12: order is 3 but must be 0, 1 or 2",
        ),
        (
            "polynomial(degree=0.5)",
            "character 12: degree is 0.5 but must be a positive whole number",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(refused(text), expected, "{text}");
    }
    let unknown = refused("rbf + matern5");
    let start = "character 7: unknown kernel matern5; did you mean matern52? Known kernels: rbf, ";
    assert!(unknown.starts_with(start), "{unknown}");
}

/// A kernel of any length is parsed or refused without a stack overflow.
#[test]
fn kernels_have_a_limit() {
    let sum = |count: usize| vec!["white"; count].join("+");
    parsed(&sum(200));
    let expected =
        |place: usize| format!("character {place}: more than 200 kernels in one expression");
    assert_eq!(refused(&sum(201)), expected(1201));
    assert_eq!(refused(&sum(20_000)), expected(1201));
    assert_eq!(refused(&vec!["rbf"; 20_000].join("*")), expected(801));
    let on_inputs = format!("rbf{}", "[1]".repeat(20_000));
    assert_eq!(refused(&on_inputs), expected(1));
}

/// A kernel of any depth is parsed or refused without a stack overflow.
#[test]
fn parentheses_have_a_limit() {
    let nested = |depth: usize| format!("{}rbf{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(parsed(&nested(50)), rbf());
    let expected = "character 51: more than 50 nested parentheses";
    assert_eq!(refused(&nested(100_000)), expected);
}

#[test]
fn texts_are_kept_in_files() {
    let expression: KernelExpression = " rbf + linear[2]".parse().expect("a kernel");
    let text = serde_json::to_string(&expression).expect("serializable");
    assert_eq!(text, r#""rbf + linear[2]""#);
    let read: KernelExpression = serde_json::from_str(&text).expect("readable");
    assert_eq!(read, expression);
    let refusal = serde_json::from_str::<KernelExpression>(r#""rbff""#);
    let refusal = refusal.expect_err("no kernel").to_string();
    assert!(refusal.contains("unknown kernel rbff"), "{refusal}");
}
