"""Scores of Gaussian predictions, in the units of the targets they are given."""

import numpy as np

NORMAL_QUANTILE_975 = 1.959963984540054


def score(y: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> dict[str, float]:
    """RMSE, MAE, mean negative log density and coverage of the central 95 % interval.

    `variance` is the variance of an observation, including the noise.
    """
    y, mean, variance = (np.asarray(a, np.float64).ravel() for a in (y, mean, variance))
    residual = y - mean
    density = 0.5 * (np.log(2.0 * np.pi * variance) + residual**2 / variance)
    inside = np.abs(residual) <= NORMAL_QUANTILE_975 * np.sqrt(variance)
    return {
        "rmse": float(np.sqrt(np.mean(residual**2))),
        "mae": float(np.mean(np.abs(residual))),
        "nlpd": float(np.mean(density)),
        "coverage95": float(np.mean(inside)),
    }
