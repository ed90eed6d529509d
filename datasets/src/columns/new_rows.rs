//! How rows to predict are read.

/// Options for reading rows to predict.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRows {
    /// Whether the first line is a header; if `None`, it is one unless all its fields are numbers.
    pub header: Option<bool>,
    /// Whether rows that cannot be predicted are listed in [`Features::unfit`] instead of being an
    /// error.
    ///
    /// [`Features::unfit`]: crate::Features::unfit
    pub lenient: bool,
    /// Whether gaps in columns that had none in training are filled: with the mean of the training rows
    /// or, in a category, as an unknown level. Otherwise they are an error.
    pub fill_gaps: bool,
    /// The columns whose texts are kept in [`Features::kept`], besides the model's id.
    ///
    /// [`Features::kept`]: crate::Features::kept
    pub keep: KeptColumns,
}

/// The columns whose texts are kept unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum KeptColumns {
    /// No columns.
    #[default]
    None,
    /// The columns with these names.
    Named(Vec<String>),
    /// All columns.
    All,
}

impl KeptColumns {
    /// The named columns, each with the option that names it.
    pub(crate) fn named(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let names = match self {
            Self::Named(names) => names.as_slice(),
            Self::None | Self::All => &[],
        };
        names.iter().map(|name| ("--keep", name.as_str()))
    }

    /// Whether the column with this name is kept.
    pub(crate) fn takes(&self, name: &str) -> bool {
        match self {
            Self::None => false,
            Self::Named(names) => names.iter().any(|own| own == name),
            Self::All => true,
        }
    }
}
