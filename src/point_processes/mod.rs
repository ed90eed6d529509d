//! Random points in a domain whose density has a Gaussian process prior.

mod cox;
mod domain;
mod integration;
mod legendre;

pub use cox::{CoxProcess, expected_intensity};
pub use domain::{Domain, DomainError};
pub use integration::IntegrationRule;
pub(crate) use legendre::nodes_and_weights as legendre_nodes_and_weights;
