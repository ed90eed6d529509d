//! The models that the paper compares, and one more.

use burn_gp::ops::Stationary;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::arguments::{AllRowsOptions, ModelName, NetworkOptions, RunOptions};
use crate::kernel_expression::KernelExpression;
use crate::parameter_options::ValuesOption;

/// A model of Table 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Method {
    /// Exact regression, L-BFGS
    Gp,
    /// Regression by conjugate gradients with variances of predictions made once, L-BFGS
    GpCg,
    /// Collapsed regression with 128 inducing points, L-BFGS
    Sgp,
    /// Exact deep kernel learning with 2 features
    Dkl,
    /// The same with 128 inducing points among the features, collapsed
    Sdkl,
    /// A deep basis kernel of rank 128, corrected
    Dbk,
    /// The same without correction
    DbkC,
    /// Of rank 1, corrected
    DbkR,
    /// Of rank 1 without correction
    DbkCr,
    /// A plain network with a Bayesian last layer; not in the paper
    Bll,
    /// Sparse variational with 128 inducing points
    Svgp,
    /// Variational deep kernel learning with 2 features and 128 inducing points
    Svdkl,
    /// A variational deep basis kernel of rank 128, corrected
    Svdbk,
    /// The same without correction
    SvdbkC,
    /// Of rank 1, corrected
    SvdbkR,
    /// Of rank 1 without correction
    SvdbkCr,
}

impl Method {
    /// Its name in the paper.
    pub fn title(self) -> &'static str {
        match self {
            Self::Gp => "GP",
            Self::GpCg => "GP, CG",
            Self::Sgp => "sGP",
            Self::Dkl => "DKL",
            Self::Sdkl => "sDKL",
            Self::Dbk => "DBK",
            Self::DbkC => "DBK-c",
            Self::DbkR => "DBK-r",
            Self::DbkCr => "DBK-cr",
            Self::Bll => "BLL",
            Self::Svgp => "SVGP",
            Self::Svdkl => "SVDKL",
            Self::Svdbk => "SVDBK",
            Self::SvdbkC => "SVDBK-c",
            Self::SvdbkR => "SVDBK-r",
            Self::SvdbkCr => "SVDBK-cr",
        }
    }

    /// The model of the program.
    pub fn model(self) -> ModelName {
        match self {
            Self::Gp => ModelName::Exact,
            Self::GpCg => ModelName::Cggp,
            Self::Sgp => ModelName::Sgpr,
            Self::Dkl => ModelName::Dkl,
            Self::Sdkl => ModelName::Sdkl,
            Self::Dbk | Self::DbkC | Self::DbkR | Self::DbkCr => ModelName::Dbk,
            Self::Bll => ModelName::Bll,
            Self::Svgp => ModelName::Svgp,
            Self::Svdkl => ModelName::Svdkl,
            Self::Svdbk | Self::SvdbkC | Self::SvdbkR | Self::SvdbkCr => ModelName::Svdbk,
        }
    }

    /// Whether time and memory grow with more than the rows.
    pub fn is_dense(self) -> bool {
        matches!(self, Self::Gp | Self::GpCg | Self::Dkl)
    }

    fn has_no_correction(self) -> bool {
        matches!(
            self,
            Self::DbkC | Self::DbkCr | Self::SvdbkC | Self::SvdbkCr
        )
    }

    fn is_of_rank_one(self) -> bool {
        matches!(
            self,
            Self::DbkR | Self::DbkCr | Self::SvdbkR | Self::SvdbkCr
        )
    }

    /// `options` with the model; a kernel of the inputs themselves starts with the lengthscale
    /// `√D`.
    pub fn with_model(self, options: RunOptions, dimensions: usize) -> RunOptions {
        let model = self.model();
        let on_inputs = matches!(self, Self::Gp | Self::GpCg | Self::Sgp | Self::Svgp);
        let lengthscale = || ValuesOption {
            path: "kernel.lengthscale".into(),
            values: vec![(dimensions as f64).sqrt()],
        };
        RunOptions {
            model: Some(model),
            kernel: (!model.has_basis())
                .then(|| KernelExpression::of_unit_lengthscale(Stationary::SquaredExponential)),
            isotropic: (!model.has_basis()).then_some(false),
            set: on_inputs.then(|| vec![lengthscale()]),
            inducing: model.has_inducing().then_some(INDUCING),
            all_rows: AllRowsOptions {
                cached_variances: (model == ModelName::Cggp).then_some(CACHED_VARIANCES),
                ..AllRowsOptions::default()
            },
            network: NetworkOptions {
                rank: (model.has_basis()).then_some(if self.is_of_rank_one() { 1 } else { RANK }),
                no_correction: self.has_no_correction().then_some(true),
                ..NetworkOptions::default()
            },
            ..options
        }
    }
}

/// Inducing points of the sparse models.
const INDUCING: usize = 128;

/// Pivots of the variances of predictions by conjugate gradients.
const CACHED_VARIANCES: usize = 512;

/// Basis functions.
const RANK: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_switches_are_independent() {
        let network = |method: Method| method.with_model(RunOptions::default(), 4).network;
        let switches = |method| {
            let network = network(method);
            (network.rank, network.no_correction)
        };
        assert_eq!(switches(Method::Dbk), (Some(128), None));
        assert_eq!(switches(Method::DbkC), (Some(128), Some(true)));
        assert_eq!(switches(Method::SvdbkR), (Some(1), None));
        assert_eq!(switches(Method::SvdbkCr), (Some(1), Some(true)));
        assert_eq!(network(Method::Svdkl), NetworkOptions::default());
        let set = Method::Sgp.with_model(RunOptions::default(), 4).set;
        assert_eq!(set.unwrap()[0].values, [2.0]);
    }
}
