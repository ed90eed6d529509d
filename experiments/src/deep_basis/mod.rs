//! The deep basis kernel experiments of Y. Zhu, P. Yuchi and Y. Xie, arXiv:2505.18526.

mod cox;
mod cox_data;
mod cox_problem;
mod exceptions;
mod mobile;
mod synthetic;
mod synthetic_run;
mod theorem1;
mod theorem1_fit;

pub(super) use exceptions::lines as exceptions;
