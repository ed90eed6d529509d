//! The protocol of regression with SVGP, ODVGP and SOLVE-GP: section 6.3 of J. Shi, M. Titsias and A. Mnih,
//! "Sparse Orthogonal Variational Inference for Gaussian Processes", arXiv:1910.10596.
//!
//! The kernel is Matérn-3/2 with one lengthscale. 20 % of the rows are drawn at random for testing, and 20 %
//! of the rest are held out. Training is 100 epochs of Adam with batches of 1024 and the learning rate 0.01.
//! The paper does not say what its held-out validation rows are for: here nothing looks at them, and the model
//! of the last step is tested. Where the paper is silent, inputs and targets are standardized by the training
//! rows, inducing points start at the centers of clusters, and hyperparameters where train starts them.

use serde_json::{Value, json};

/// The options of all runs, with this number of epochs.
pub(super) fn run(epochs: Value) -> Value {
    json!({
        "default_priors": false,
        "kernel": "matern32(lengthscale=1 std)",
        "isotropic": true,
        "mean": "zero",
        "likelihood": "gaussian",
        "test_fraction": 0.2,
        "validation_fraction": 0.2,
        "keep": "last",
        "batch_size": 1024,
        "learning_rate": 0.01,
        "schedule": "constant",
        "epochs": epochs,
    })
}
