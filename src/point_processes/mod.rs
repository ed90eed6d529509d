//! Random points in a domain whose density has a Gaussian process prior.

mod cox;
mod domain;
mod integration;

pub use cox::{CoxProcess, expected_intensity};
pub use domain::{Domain, DomainError};
pub use integration::IntegrationRule;
