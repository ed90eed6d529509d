//! All likelihoods, compared with naive formulas, dense quadrature, Monte Carlo and central
//! differences.
//!
//! All tests run over `likelihood_cases::registry`. A configuration variant without an entry there fails
//! `registration`.

mod accuracy;
mod expectations;
mod extremes;
mod gradients;
mod grids;
mod intervals;
mod lines;
mod members;
mod outputs;
mod parameter_slopes;
mod quantiles;
mod ranked_probability;
mod recalibration;
mod registration;
mod samples;
mod several_functions;
mod single_precision;
mod sizes;
mod softmax;
mod successes;
mod transformed;
