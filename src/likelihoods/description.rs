//! What a likelihood expects of functions and targets.

use core::fmt;

use burn::tensor::{DType, Tensor};
use derive_setters::Setters;

use super::{ImpossibleTarget, targets::in_precision};
use crate::{
    parameter::{numbers, require_same_dtype},
    process::Marginals,
};

/// The name of a likelihood, the numbers of its functions and target columns, and its valid targets.
///
/// ```
/// use burn_gp_core::likelihoods::LikelihoodDescription;
///
/// let counts = LikelihoodDescription::new("matches")
///     .with_columns(2)
///     .with_targets("counts of games won and played", |_, count| count >= 0.0 && count.fract() == 0.0)
///     .with_pairs(|won, played| won <= played);
/// assert!(counts.is_possible(0, 3.0) && !counts.is_possible(0, 0.5));
/// assert!(counts.check_targets(&[3.0, 4.0], 2).is_ok() && counts.check_targets(&[4.0, 3.0], 2).is_err());
/// assert_eq!(counts.outputs(6), 3);
/// ```
#[derive(Clone, Copy, Debug, Setters)]
#[setters(prefix = "with_")]
pub struct LikelihoodDescription {
    /// The name in messages.
    #[setters(skip)]
    pub name: &'static str,
    /// The number of latent functions per output.
    pub latents: usize,
    /// The number of target columns per output.
    pub columns: usize,
    /// The number of classes, or `None` if the targets are not labels.
    #[setters(strip_option)]
    pub classes: Option<usize>,
    /// Whether an infinite value may be valid, such as a limit that is not there.
    pub infinite: bool,
    /// Whether the log density is a smooth function of the latent functions. The Laplace approximation needs its
    /// curvature.
    pub is_smooth: bool,
    /// The valid targets that are not labels, for messages.
    #[setters(skip)]
    expected: &'static str,
    /// Whether a finite value, or an infinite one if there may be any, that is no label is valid in a column of its
    /// output.
    #[setters(skip)]
    is_possible: fn(usize, f64) -> bool,
    /// Whether possible values of the two columns of an output are possible together.
    #[setters(skip)]
    is_pair_possible: fn(f64, f64) -> bool,
    /// The smallest and the largest possible value, and both in the units of the data, for messages.
    #[setters(skip)]
    range: Option<[(f64, f64); 2]>,
}

impl LikelihoodDescription {
    /// A likelihood with one function and one column for each output, whose targets are any numbers.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            latents: 1,
            columns: 1,
            classes: None,
            infinite: false,
            is_smooth: true,
            expected: "finite numbers",
            is_possible: |_, _| true,
            is_pair_possible: |_, _| true,
            range: None,
        }
    }

    /// Sets the smallest and the largest possible value, infinite if there is none. `stated` are these values in the
    /// units of the data, for messages.
    pub fn with_range(self, range: (f64, f64), stated: (f64, f64)) -> Self {
        Self {
            range: Some([range, stated]),
            ..self
        }
    }

    /// Sets the valid targets: what messages call them, and whether a finite value, or an infinite one if there
    /// [may be](Self::infinite) any, is valid in a zero-based target column of its output.
    pub fn with_targets(self, expected: &'static str, is_possible: fn(usize, f64) -> bool) -> Self {
        Self {
            expected,
            is_possible,
            ..self
        }
    }

    /// Sets which valid values of the two columns of an output are valid together.
    pub fn with_pairs(self, is_pair_possible: fn(f64, f64) -> bool) -> Self {
        Self {
            is_pair_possible,
            ..self
        }
    }

    /// The valid targets, for messages.
    pub fn expected(&self) -> String {
        match (self.classes, self.range) {
            (Some(classes), _) => format!("labels 0 to {}", classes - 1),
            (None, Some([_, (lower, f64::INFINITY)])) => format!("numbers from {lower}"),
            (None, Some([_, (f64::NEG_INFINITY, upper)])) => format!("numbers up to {upper}"),
            (None, Some([_, (lower, upper)])) => format!("numbers from {lower} to {upper}"),
            (None, None) => self.expected.into(),
        }
    }

    /// Whether `value` is valid in the given zero-based target column of an output.
    pub fn is_possible(&self, column: usize, value: f64) -> bool {
        (value.is_finite() || self.infinite && !value.is_nan())
            && match self.classes {
                Some(classes) => value.fract() == 0.0 && (0.0..classes as f64).contains(&value),
                None => (self.is_possible)(column, value) && self.is_in_range(value),
            }
    }

    /// Whether a value of the first column of an output is valid beside that of the second. What is wrong with the
    /// second column alone is found there.
    fn is_pair(&self, first: f64, second: f64) -> bool {
        !self.is_possible(1, second) || (self.is_pair_possible)(first, second)
    }

    fn is_in_range(&self, value: f64) -> bool {
        self.range
            .is_none_or(|[(lower, upper), _]| (lower..=upper).contains(&value))
    }

    /// The number of outputs, P, for targets with `columns` columns.
    ///
    /// # Panics
    ///
    /// If `columns` is not a multiple of the columns per output.
    #[track_caller]
    pub fn outputs(&self, columns: usize) -> usize {
        assert!(
            columns > 0 && columns.is_multiple_of(self.columns),
            "{columns} columns of targets; the {} likelihood takes {} for each output",
            self.name,
            self.columns
        );
        columns / self.columns
    }

    /// Checks row-major targets on the host with `columns` columns.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`] for the first value that is impossible under the likelihood.
    ///
    /// # Panics
    ///
    /// If `columns` is not a multiple of the columns per output.
    #[track_caller]
    pub fn check_targets(&self, targets: &[f64], columns: usize) -> Result<(), ImpossibleTarget> {
        let outputs = self.outputs(columns);
        let impossible = |&(index, &value): &(usize, &f64)| {
            let column = index % columns / outputs;
            let is_alone = self.columns != 2 || column > 0;
            !self.is_possible(column, value)
                || !is_alone && !self.is_pair(value, targets[index + outputs])
        };
        match targets.iter().enumerate().find(impossible) {
            None => Ok(()),
            Some((index, &value)) => Err(ImpossibleTarget {
                row: index / columns,
                column: index % columns,
                value,
                rounded: None,
                likelihood: self.name,
                expected: self.expected(),
            }),
        }
    }

    /// Like [`check_targets`](Self::check_targets), for the values after rounding to `precision`: a
    /// fraction just below 1 may become 1, and a tiny number 0.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`] for the first value that is impossible under the likelihood.
    ///
    /// # Panics
    ///
    /// If `columns` is not a multiple of the columns per output.
    #[track_caller]
    pub fn check_targets_in(
        &self,
        precision: DType,
        targets: &[f64],
        columns: usize,
    ) -> Result<(), ImpossibleTarget> {
        self.check_targets(targets, columns)?;
        let held = in_precision(targets, precision);
        (self.check_targets(&held, columns)).map_err(|impossible| ImpossibleTarget {
            value: targets[impossible.row * columns + impossible.column],
            rounded: Some((impossible.value, precision.name())),
            ..impossible
        })
    }

    /// Like [`check_targets`](Self::check_targets), for targets on a device, `[N, T]`.
    ///
    /// # Errors
    ///
    /// [`ImpossibleTarget`] for the first value that is impossible under the likelihood.
    ///
    /// # Panics
    ///
    /// If the number of columns is not a multiple of the columns per output.
    #[track_caller]
    pub fn check_tensor(&self, targets: &Tensor<2>) -> Result<(), ImpossibleTarget> {
        let [_, columns] = targets.dims();
        self.check_targets(&numbers(targets.clone()), columns)
    }

    /// Checks that the shapes of targets and marginals match.
    ///
    /// # Panics
    ///
    /// If their rows differ, means and variances differ in shape, or the functions and target
    /// columns imply different numbers of outputs.
    #[track_caller]
    pub fn require_sizes(&self, targets: &Tensor<2>, marginals: &Marginals) {
        let name = || format!("the {} likelihood", self.name);
        let functions = ("functions", marginals.mean.dtype());
        require_same_dtype(name, ("targets", targets.dtype()), functions);
        let (means, variances) = (marginals.mean.dims(), marginals.variance.dims());
        let given = format_args!("functions with means {means:?} and variances {variances:?}");
        self.require(means == variances, targets, means, given);
    }

    /// Like [`require_sizes`](Self::require_sizes), for values of the functions, `[S, N, F]`.
    ///
    /// # Panics
    ///
    /// If their rows differ, or the functions and target columns imply different numbers of
    /// outputs.
    #[track_caller]
    pub fn require_value_sizes(&self, targets: &Tensor<2>, function: &Tensor<3>) {
        let [_, rows, functions] = function.dims();
        let given = format_args!("values of the functions {:?}", function.dims());
        self.require(true, targets, [rows, functions], given);
    }

    /// Panics unless the targets fit functions of shape `[N, F]`.
    #[track_caller]
    fn require(
        &self,
        is_consistent: bool,
        targets: &Tensor<2>,
        [rows, functions]: [usize; 2],
        given: fmt::Arguments,
    ) {
        let Self {
            name,
            latents,
            columns,
            ..
        } = self;
        assert!(
            is_consistent
                && functions.is_multiple_of(*latents)
                && targets.dims() == [rows, functions / latents * columns],
            "the {name} likelihood: targets {:?} for {given}; expected [N, {columns}·P] for \
             {latents}·P functions",
            targets.dims()
        );
    }
}
