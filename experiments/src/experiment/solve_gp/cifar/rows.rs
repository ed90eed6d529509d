//! The rows of the paper's tables of CIFAR-10.

use clap::ValueEnum;
use serde::Serialize;

use crate::arguments::{LayerOptions, LikelihoodName, ModelName, PosteriorName, RunOptions};

/// Patch sizes and strides of the layers of a model, from the first on (Table 5).
const PATCHES: [usize; 3] = [5, 4, 5];
const STRIDES: [usize; 3] = [1, 2, 1];
/// Channels of the feature maps between them.
const CHANNELS: usize = 10;

/// The distribution of the labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LabelLikelihood {
    /// The largest function wins but for rare errors
    #[default]
    RobustMax,
    /// Probabilities by the exponentials of the functions
    Softmax,
}

impl From<LabelLikelihood> for LikelihoodName {
    fn from(likelihood: LabelLikelihood) -> Self {
        match likelihood {
            LabelLikelihood::RobustMax => Self::RobustMax,
            LabelLikelihood::Softmax => Self::Softmax,
        }
    }
}

/// The models, by their inducing patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
pub(super) enum CifarModel {
    /// SVGP, M inducing patches
    #[serde(rename = "svgp-m")]
    #[value(name = "svgp-m")]
    Single,
    /// SVGP, 1.6 M inducing patches: about the time of SOLVE-GP; with one layer only
    #[serde(rename = "svgp-1.6m")]
    #[value(name = "svgp-1.6m")]
    Larger,
    /// SOLVE-GP, M inducing patches and M orthogonal ones
    #[serde(rename = "solve-m-m")]
    #[value(name = "solve-m-m")]
    Solve,
    /// SVGP, 2M inducing patches
    #[serde(rename = "svgp-2m")]
    #[value(name = "svgp-2m")]
    Double,
}

/// The inducing patches that the models' are multiples of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Patches {
    /// Of the last layer.
    pub output: usize,
    /// Of each layer before.
    pub hidden: usize,
}

/// A row: a model with a number of layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct CifarRow {
    /// How many layers there are.
    pub layers: usize,
    /// The model.
    pub model: CifarModel,
}

/// The paper's numbers of a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Published {
    /// Share of right labels of the test images, in per cent.
    pub accuracy: f64,
    /// Mean log density of the test images' labels.
    pub log_density: f64,
    /// Seconds of a step.
    pub seconds_per_step: f64,
}

/// Layers, model, test accuracy in per cent, mean test log density, seconds a step (Tables 1, 3, 8
/// to 10).
const PUBLISHED: [(usize, CifarModel, f64, f64, f64); 10] = [
    (1, CifarModel::Single, 66.07, -1.59, 0.241),
    (1, CifarModel::Larger, 67.18, -1.54, 0.380),
    (1, CifarModel::Solve, 68.19, -1.51, 0.370),
    (1, CifarModel::Double, 68.06, -1.48, 0.474),
    (2, CifarModel::Single, 76.35, -1.04, 0.392),
    (2, CifarModel::Solve, 77.80, -0.98, 0.657),
    (2, CifarModel::Double, 77.46, -0.98, 1.104),
    (3, CifarModel::Single, 78.76, -0.88, 0.418),
    (3, CifarModel::Solve, 80.30, -0.79, 0.752),
    (3, CifarModel::Double, 80.33, -0.82, 1.246),
];

impl CifarModel {
    /// The number of one set of inducing patches, for M of them.
    fn times(self, count: usize) -> usize {
        match self {
            Self::Single | Self::Solve => count,
            Self::Larger => count * 8 / 5,
            Self::Double => 2 * count,
        }
    }

    fn posterior(self, whitened: bool) -> PosteriorName {
        match (self, whitened) {
            (Self::Solve, true) => PosteriorName::Solve,
            (Self::Solve, false) => PosteriorName::SolveUnwhitened,
            (_, true) => PosteriorName::Whitened,
            (_, false) => PosteriorName::Unwhitened,
        }
    }
}

impl CifarRow {
    /// The rows of the paper with some numbers of layers, in its order.
    pub fn all(layers: &[usize]) -> Vec<Self> {
        let rows = PUBLISHED.map(|(layers, model, ..)| Self { layers, model });
        let asked = |row: &Self| layers.contains(&row.layers);
        rows.into_iter().filter(asked).collect()
    }

    /// The row that seconds are compared with.
    pub fn reference(self) -> Self {
        Self {
            model: CifarModel::Single,
            ..self
        }
    }

    /// The paper's numbers.
    pub fn published(self) -> Option<Published> {
        let row = |entry: &&(usize, CifarModel, f64, f64, f64)| {
            (entry.0, entry.1) == (self.layers, self.model)
        };
        let &(_, _, accuracy, log_density, seconds_per_step) = PUBLISHED.iter().find(row)?;
        Some(Published {
            accuracy,
            log_density,
            seconds_per_step,
        })
    }

    /// Its inducing patches as the paper writes them, from the first layer to the last.
    pub fn sizes(self, patches: Patches) -> String {
        let size = |count| match self.model {
            CifarModel::Solve => format!("{count}+{count}"),
            model => model.times(count).to_string(),
        };
        let hidden = (1..self.layers).map(|_| size(patches.hidden));
        let all: Vec<String> = hidden.chain([size(patches.output)]).collect();
        all.join(", ")
    }

    /// Its name in a table.
    pub fn title(self, patches: Patches) -> String {
        let method = match self.model {
            CifarModel::Solve => "SOLVE-GP",
            _ => "SVGP",
        };
        format!("{}-layer {method} {}", self.layers, self.sizes(patches))
    }

    /// `options` with the model of the row.
    pub fn with_model(self, options: RunOptions, patches: Patches) -> RunOptions {
        let is_deep = self.layers > 1;
        let times = |count| self.model.times(count);
        RunOptions {
            model: Some(match is_deep {
                true => ModelName::DeepConvGp,
                false => ModelName::ConvGp,
            }),
            inducing: Some(times(patches.output)),
            orthogonal: (self.model == CifarModel::Solve).then_some(patches.output),
            layers: LayerOptions {
                posterior: Some(self.model.posterior(!is_deep)),
                layers: is_deep.then_some(self.layers),
                width: is_deep.then_some(CHANNELS),
                hidden_inducing: is_deep.then(|| times(patches.hidden)),
                patch: Some(PATCHES[..self.layers].to_vec()),
                stride: Some(STRIDES[..self.layers].to_vec()),
                located: Some(true),
                ..LayerOptions::default()
            },
            ..options
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: Patches = Patches {
        output: 1000,
        hidden: 384,
    };

    #[test]
    fn every_row_of_the_paper_has_its_sizes() {
        let rows = CifarRow::all(&[1, 2, 3]);
        let sizes: Vec<String> = rows.iter().map(|row| row.sizes(PAPER)).collect();
        let expected = [
            "1000",
            "1600",
            "1000+1000",
            "2000",
            "384, 1000",
            "384+384, 1000+1000",
            "768, 2000",
            "384, 384, 1000",
            "384+384, 384+384, 1000+1000",
            "768, 768, 2000",
        ];
        assert_eq!(sizes, expected);
        let single = CifarRow::all(&[1]);
        assert_eq!(single.len(), 4);
    }

    #[test]
    fn numbers_of_the_paper_are_in_its_order() {
        for layers in 1..=3 {
            let number = |model| CifarRow { layers, model }.published().expect("a row");
            let (single, solve, double) = (
                number(CifarModel::Single),
                number(CifarModel::Solve),
                number(CifarModel::Double),
            );
            assert!(solve.accuracy > single.accuracy && solve.log_density > single.log_density);
            let seconds = [single, solve, double].map(|row| row.seconds_per_step);
            assert!(seconds.is_sorted());
        }
    }
}
