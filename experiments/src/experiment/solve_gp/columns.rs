//! The columns of the paper's tables of regression.

use clap::ValueEnum;
use serde::Serialize;

use crate::arguments::{ModelName, RunOptions};

/// What the counts are divided by at quick scale.
const QUICK: usize = 8;

/// A column of Tables 2, 6 and 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
pub(super) enum Column {
    /// SVGP, 1024 inducing points
    #[serde(rename = "svgp-1024")]
    #[value(name = "svgp-1024")]
    Svgp1024,
    /// SVGP, 1536 inducing points
    #[serde(rename = "svgp-1536")]
    #[value(name = "svgp-1536")]
    Svgp1536,
    /// ODVGP, 1024 inducing points and 1024 more for the mean
    #[serde(rename = "odvgp-1024")]
    #[value(name = "odvgp-1024")]
    Odvgp1024,
    /// ODVGP, 1024 inducing points and 8096 more for the mean, of which a step looks at 1024
    #[serde(rename = "odvgp-8096")]
    #[value(name = "odvgp-8096")]
    Odvgp8096,
    /// SOLVE-GP, 1024 inducing points and 1024 orthogonal ones
    #[serde(rename = "solve-1024")]
    #[value(name = "solve-1024")]
    Solve1024,
    /// SVGP, 2048 inducing points
    #[serde(rename = "svgp-2048")]
    #[value(name = "svgp-2048")]
    Svgp2048,
}

/// The inducing points of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Sizes {
    /// M
    pub inducing: usize,
    /// M2, where there are orthogonal ones.
    pub orthogonal: Option<usize>,
    /// Columns of their covariance that a step looks at, where it does not look at all.
    pub columns: Option<usize>,
}

impl Column {
    /// Its inducing points, as in the paper or an eighth of them.
    pub fn sizes(self, is_paper: bool) -> Sizes {
        let scaled = |count: usize| if is_paper { count } else { count / QUICK };
        let (inducing, orthogonal, columns) = match self {
            Self::Svgp1024 => (1024, None, None),
            Self::Svgp1536 => (1536, None, None),
            Self::Odvgp1024 => (1024, Some(1024), None),
            Self::Odvgp8096 => (1024, Some(8096), Some(1024)),
            Self::Solve1024 => (1024, Some(1024), None),
            Self::Svgp2048 => (2048, None, None),
        };
        Sizes {
            inducing: scaled(inducing),
            orthogonal: orthogonal.map(scaled),
            columns: columns.map(scaled),
        }
    }

    /// Its name in a table.
    pub fn title(self, is_paper: bool) -> String {
        let sizes = self.sizes(is_paper);
        let method = match self {
            Self::Svgp1024 | Self::Svgp1536 | Self::Svgp2048 => "SVGP",
            Self::Odvgp1024 | Self::Odvgp8096 => "ODVGP",
            Self::Solve1024 => "SOLVE-GP",
        };
        match sizes.orthogonal {
            Some(orthogonal) => format!("{method} {}+{orthogonal}", sizes.inducing),
            None => format!("{method} {}", sizes.inducing),
        }
    }

    /// `options` with the model of the column.
    pub fn with_model(self, options: RunOptions, is_paper: bool) -> RunOptions {
        let sizes = self.sizes(is_paper);
        RunOptions {
            model: Some(match self {
                Self::Svgp1024 | Self::Svgp1536 | Self::Svgp2048 => ModelName::SvgpUnwhitened,
                Self::Odvgp1024 | Self::Odvgp8096 => ModelName::Odvgp,
                Self::Solve1024 => ModelName::SolveUnwhitened,
            }),
            inducing: Some(sizes.inducing),
            orthogonal: sizes.orthogonal,
            columns: sizes.columns,
            ..options
        }
    }
}
