//! The two protocols of single-layer regression.

use clap::ValueEnum;
use serde::Serialize;

use super::cells::Run;
use super::method::{Method, Relaxed};
use super::regression::{DATA_SETS, damped, shared, told};
use crate::arguments::{InversionName, RunOptions};
use crate::study::{CommonOptions, Place, Reported};

/// A figure or table of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ProtocolName {
    /// Figure 2: batches of 100 rows, NLPD against seconds, R-SVGP with damped inducing points
    #[value(name = "figure-2")]
    #[serde(rename = "figure-2")]
    Figure2,
    /// The single-layer row of Table 1: kin40k, batches of 1000 rows, R-SVGP with log-linear step
    /// sizes
    #[value(name = "table-1")]
    #[serde(rename = "table-1")]
    Table1,
}

/// The settings of a protocol at a scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Protocol {
    /// The name of the experiment.
    pub name: &'static str,
    /// The data sets.
    pub data_sets: &'static [&'static str],
    /// The numbers of inducing points.
    pub sizes: &'static [usize],
    /// The number of steps.
    pub steps: usize,
    /// Rows in a batch.
    pub batch_size: usize,
}

impl ProtocolName {
    /// The protocol of the paper, or a smaller one.
    pub fn protocol(self, is_paper: bool) -> Protocol {
        let by_scale = |quick, paper| if is_paper { paper } else { quick };
        match self {
            Self::Figure2 => Protocol {
                name: "inverse-free-uci",
                data_sets: &DATA_SETS,
                sizes: if is_paper {
                    &[1000, 2000, 3000, 4000]
                } else {
                    &[128, 256]
                },
                steps: by_scale(1_500, 20_000),
                batch_size: 100,
            },
            Self::Table1 => Protocol {
                name: "inverse-free-uci-table-1",
                data_sets: &DATA_SETS[1..],
                sizes: if is_paper { &[500] } else { &[125] },
                steps: by_scale(1_000, 200_000),
                batch_size: 1000,
            },
        }
    }

    /// The options of `run` in the paper. If the paper does not have its number of inducing points,
    /// the paper's first number is used.
    pub fn in_paper(self, run: &Run, common: &CommonOptions, place: Place) -> RunOptions {
        let common = common.as_in_paper();
        let protocol = self.protocol(true);
        let relaxed = self.relaxed(protocol.steps);
        let is_of_paper = protocol.sizes.contains(&run.inducing);
        let inducing = if is_of_paper {
            run.inducing
        } else {
            protocol.sizes[0]
        };
        let of_r = |&count: &usize| run.method == Method::R && count <= inducing;
        let run = Run {
            inducing,
            probes: relaxed.probes.filter(of_r),
            ..run.clone()
        };
        told(&run, self.shared(protocol.steps, &common, place), &relaxed)
    }

    /// The options of all runs with this number of steps.
    pub fn shared(self, steps: usize, common: &CommonOptions, place: Place) -> RunOptions {
        RunOptions {
            steps: Some(steps),
            batch_size: Some(self.protocol(common.is_paper()).batch_size),
            ..shared(common, place)
        }
    }

    /// The R-SVGP settings of a run with this number of steps.
    pub fn relaxed(self, steps: usize) -> Relaxed {
        match self {
            Self::Figure2 => damped(steps),
            Self::Table1 => Relaxed {
                inversion: InversionName::LogLinear,
                tolerance: 1e-9,
                probes: None,
                damping: None,
            },
        }
    }

    /// The published NLPD; `None` for Figure 2, which has no numbers.
    pub fn published(self) -> fn(&Run) -> Option<Reported> {
        match self {
            Self::Figure2 => |_| None,
            Self::Table1 => table_1,
        }
    }

    /// The findings of the paper.
    pub fn findings(self) -> &'static str {
        match self {
            Self::Figure2 => {
                "the paper is arXiv:2604.00697, Figure 2, curves without numbers: after 20 000 steps \
                 L-SVGP took up to 2.5\ntimes as long as R-SVGP on a V100, W-SVGP up to 1.4 times; \
                 the same NLPD on elevators, flat from M = 2000;\non kin40k R-SVGP better than \
                 both, but for M = 1000"
            }
            Self::Table1 => {
                "the paper is arXiv:2604.00697, Table 1, one layer of 500 inducing points after \
                 200 000 steps"
            }
        }
    }
}

/// The published NLPD in Table 1 for one layer.
fn table_1(run: &Run) -> Option<Reported> {
    let (mean, error) = match run.method {
        Method::W => (-0.38, 0.001),
        Method::L | Method::R => (-0.39, 0.002),
    };
    (run.data == "kin40k").then_some(Reported {
        mean,
        spread: Some(error),
    })
}
