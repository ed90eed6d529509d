//! The deep basis kernel experiments of Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526.

mod cox;
mod cox_data;
mod cox_problem;
mod cox_report;
mod exceptions;
mod mobile;
mod mobile_plots;
mod synthetic;
mod synthetic_plots;
mod synthetic_table;
mod theorem1;
mod theorem1_report;

pub(super) use cox::{DbkCoxOptions, cox};
pub(super) use exceptions::lines as exceptions;
pub(super) use mobile::{DbkMobileOptions, mobile};
pub(super) use synthetic::{DbkSyntheticOptions, synthetic};
pub(super) use theorem1::{DbkTheorem1Options, theorem1};
