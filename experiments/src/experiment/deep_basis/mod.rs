//! The experiments with deep basis kernels of Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526.

mod cells;
mod cox;
mod cox_data;
mod cox_problem;
mod cox_report;
mod exceptions;
mod method;
mod mobile;
mod mobile_plots;
mod protocol;
mod published;
mod rank;
mod synthetic;
mod synthetic_plots;
mod synthetic_table;
mod table;
mod theorem1;
mod theorem1_report;
mod uci;

pub(super) use cox::{DbkCoxOptions, cox};
pub(super) use mobile::{DbkMobileOptions, mobile};
pub(super) use rank::{DbkRankOptions, rank};
pub(super) use synthetic::{DbkSyntheticOptions, synthetic};
pub(super) use theorem1::{DbkTheorem1Options, theorem1};
pub(super) use uci::{DbkUciOptions, uci};
