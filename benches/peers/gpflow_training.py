"""Shared code of the GPflow scripts: set-up, kernels, Adam, chunked evaluation.

Import after `processor_threads.limit`.
"""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import sys
import time
from collections.abc import Iterator

import gpflow
import numpy as np
import tensorflow as tf
from random_draws import chunks

KERNELS = {
    "matern12": gpflow.kernels.Matern12,
    "matern32": gpflow.kernels.Matern32,
    "matern52": gpflow.kernels.Matern52,
    "rbf": gpflow.kernels.SquaredExponential,
}


def configure(dtype: str, jitter: float | None) -> float:
    """Set GPflow's float type and its (absolute) jitter; returns the jitter used."""
    chosen = jitter if jitter is not None else (1e-4 if dtype == "float32" else 1e-6)
    gpflow.config.set_default_float(getattr(np, dtype))
    gpflow.config.set_default_jitter(chosen)
    return chosen


def kernel(name: str, dimensions: int, isotropic: bool, lengthscale: float, variance: float):
    """A stationary kernel with one lengthscale (`isotropic`) or one per input dimension."""
    lengthscales = lengthscale if isotropic else np.full(dimensions, lengthscale)
    return KERNELS[name](variance=variance, lengthscales=lengthscales)


def train_adam(
    model: gpflow.models.SVGP,
    x: np.ndarray,
    y: np.ndarray,
    steps: int,
    learning_rate: float,
    batches: Iterator[np.ndarray],
    report_every: int = 0,
) -> list[float]:
    """Adam on all trainable parameters, on the rows that `batches` yields.

    Returns the seconds of every step.
    """
    optimizer = tf.keras.optimizers.legacy.Adam(learning_rate)
    inputs, targets = tf.constant(x), tf.constant(y)

    @tf.function
    def step(rows):
        batch = (tf.gather(inputs, rows), tf.gather(targets, rows))
        with tf.GradientTape() as tape:
            loss = model.training_loss(batch)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    seconds = []
    for number in range(1, steps + 1):
        rows = tf.constant(next(batches))
        start = time.perf_counter()
        loss = float(step(rows))
        seconds.append(time.perf_counter() - start)
        if not np.isfinite(loss):
            raise SystemExit(f"the loss is {loss} at step {number}")
        if report_every and number % report_every == 0:
            print(f"step {number}: loss per datum {loss / len(x):.4f}", file=sys.stderr)
    return seconds


def svgp_objective(model: gpflow.models.SVGP, x: np.ndarray, y: np.ndarray) -> float:
    """Negative ELBO per datum over all rows."""
    divergence = float(model.prior_kl())
    expectation = 0.0
    for part in chunks(len(x)):
        share = (part.stop - part.start) / len(x)
        # GPflow scales a batch's expectation up by N / B; undo that before adding the parts.
        expectation += share * (float(model.elbo((x[part], y[part]))) + divergence)
    return (divergence - expectation) / len(x)


def predict(model, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance [N, 1] of an observation at each row of `x`, in chunks."""
    parts = [model.predict_y(x[part]) for part in chunks(len(x))]
    mean = np.concatenate([m.numpy() for m, _ in parts])
    variance = np.concatenate([v.numpy() for _, v in parts])
    return mean, variance


def hyperparameters(model) -> dict:
    """Constrained values, to compare fits by eye."""
    return {
        "lengthscales": np.atleast_1d(model.kernel.lengthscales.numpy()).tolist(),
        "kernel_variance": float(model.kernel.variance.numpy()),
        "noise_variance": float(model.likelihood.variance.numpy()),
    }
