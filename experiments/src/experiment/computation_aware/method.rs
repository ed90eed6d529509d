//! The models of Table 1 with their optimizers.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::arguments::{ActionRowsName, DtypeName, ModelName, OptimizerName};

/// A model with its optimizer, as in Tables 1 and S1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    /// Exact regression, L-BFGS in double precision
    Exact,
    /// Collapsed sparse regression, Adam in single precision
    SgprAdam,
    /// The same, L-BFGS in double precision
    SgprLBfgs,
    /// The same with inducing points that stay where k-means put them
    SgprFixed,
    /// Sparse variational regression, Adam on mini-batches in single precision
    Svgp,
    /// Conjugate gradients with stochastic log-determinants, L-BFGS in double precision
    Cggp,
    /// Combinations of rows by conjugate gradients, Adam in single precision
    CagpCg,
    /// Trained combinations of rows, Adam in single precision
    CagpOptAdam,
    /// The same, L-BFGS in double precision
    CagpOptLBfgs,
}

impl Method {
    /// What the paper calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Exact => "CholeskyGP",
            Self::SgprAdam => "SGPR, Adam",
            Self::SgprLBfgs => "SGPR, L-BFGS",
            Self::SgprFixed => "SGPR, fixed Z",
            Self::Svgp => "SVGP",
            Self::Cggp => "CGGP",
            Self::CagpCg => "CaGP-CG",
            Self::CagpOptAdam => "CaGP-Opt, Adam",
            Self::CagpOptLBfgs => "CaGP-Opt, L-BFGS",
        }
    }

    /// The same with the rows of its combinations, where they are other than the paper's.
    pub fn title_of(self, rows: Option<ActionRowsName>) -> String {
        let rows = match rows {
            Some(ActionRowsName::Near) => ", near rows",
            Some(ActionRowsName::Given) | None => "",
        };
        format!("{}{rows}", self.title())
    }

    /// The model of the program.
    pub fn model(self) -> ModelName {
        match self {
            Self::Exact => ModelName::Exact,
            Self::SgprAdam | Self::SgprLBfgs | Self::SgprFixed => ModelName::Sgpr,
            Self::Svgp => ModelName::Svgp,
            Self::Cggp => ModelName::Cggp,
            Self::CagpCg => ModelName::CagpCg,
            Self::CagpOptAdam | Self::CagpOptLBfgs => ModelName::CagpOpt,
        }
    }

    /// Its optimizer.
    pub fn optimizer(self) -> OptimizerName {
        match self {
            Self::SgprAdam | Self::Svgp | Self::CagpCg | Self::CagpOptAdam => OptimizerName::Adam,
            Self::Exact | Self::SgprLBfgs | Self::SgprFixed | Self::Cggp | Self::CagpOptLBfgs => {
                OptimizerName::LBfgs
            }
        }
    }

    /// The floating-point type.
    pub fn dtype(self) -> DtypeName {
        match self.optimizer() {
            OptimizerName::Adam => DtypeName::F32,
            OptimizerName::LBfgs => DtypeName::F64,
        }
    }

    /// Iterations in what the paper calls an epoch: for L-BFGS it is a call of PyTorch's, which makes
    /// 20 at most.
    pub fn iterations_an_epoch(self) -> usize {
        match self.optimizer() {
            OptimizerName::Adam => 1,
            OptimizerName::LBfgs => 20,
        }
    }

    /// Epochs in the paper (Table S1).
    pub fn epochs(self) -> usize {
        match self {
            Self::SgprAdam | Self::Svgp | Self::CagpOptAdam => 1000,
            Self::CagpCg => 250,
            Self::Exact | Self::SgprLBfgs | Self::SgprFixed | Self::Cggp | Self::CagpOptLBfgs => {
                100
            }
        }
    }
}
