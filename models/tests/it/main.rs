//! The tests of the ready-made models in one binary, so that it is linked once.

mod computation_aware;
mod deep_basis;
mod deep_basis_learning;
mod deep_kernel;
#[cfg(feature = "wgpu")]
mod device_failure;
mod every_likelihood;
mod every_model;
mod few_observations;
mod first_periods;
mod fit;
mod full_batch;
mod hyperparameters;
mod impossible_networks;
mod impossible_targets;
mod inducing_training;
mod inverse_free;
mod kernels;
mod layers;
mod learner;
mod loading;
mod markov;
mod mini_batch_objective;
mod multi_output;
mod natural_gradients;
mod network_layer;
mod orthogonal;
mod other_crates;
mod plateau;
mod roles;
mod row_blocks;
mod row_weights;
mod scales;
mod variational_full_batch;
mod vecchia;
mod vif;
