"""Reads tables of locations and scores Gaussian predictions, in the units of the table."""

import csv
import gzip
from pathlib import Path

import regression_metrics


def read(path: Path, target: str):
    """Locations [N, 2] and targets [N] of a CSV file."""
    import numpy as np

    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="") as file:
        header = next(csv.reader(file))
        values = np.loadtxt(file, delimiter=",", ndmin=2)
    place = header.index(target)
    others = [column for column in range(len(header)) if column != place]
    return values[:, others], values[:, place]


def score(y, mean, deviation) -> dict[str, float]:
    """RMSE, MAE, NLPD, coverage, and the continuous ranked probability score and the interval score (95 %)."""
    import numpy as np
    from scipy.stats import norm

    y, mean, deviation = (np.asarray(values, np.float64) for values in (y, mean, deviation))
    standard = (y - mean) / deviation
    density, below = norm.pdf(standard), norm.cdf(standard)
    crps = deviation * (standard * (2 * below - 1) + 2 * density - 1 / np.sqrt(np.pi))
    half = regression_metrics.NORMAL_QUANTILE_975 * deviation
    outside = np.maximum(np.abs(y - mean) - half, 0)
    scores = regression_metrics.score(y, mean, deviation**2)
    return scores | {"crps": float(crps.mean()), "interval_score95": float((2 * half + 40 * outside).mean())}
