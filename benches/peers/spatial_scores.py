"""Reads tables of locations and scores predictions, in the units of the table."""

import csv
import gzip
from pathlib import Path

import regression_metrics

# Kilometers, the mean radius of the Earth.
RADIUS = 6371.0088


def read(path: Path, target: str, sphere: list[str] | None = None):
    """Locations [N, 2] and targets [N] of a CSV file; with `sphere`, the names of the columns of degrees, [N, 3]."""
    import numpy as np

    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", newline="") as file:
        header = next(csv.reader(file))
        values = np.loadtxt(file, delimiter=",", ndmin=2)
    place = header.index(target)
    # GPBoost reads the memory of a column of a table as if it were that of a vector.
    y = np.ascontiguousarray(values[:, place])
    if sphere:
        return chordal(*(values[:, header.index(name)] for name in sphere)), y
    others = [column for column in range(len(header)) if column != place]
    return values[:, others], y


def chordal(lon, lat):
    """Points in space, in kilometers, of degrees on the sphere."""
    import numpy as np

    lon, lat = np.radians(lon), np.radians(lat)
    return RADIUS * np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


def interval_score(y, lower, upper) -> float:
    """The mean interval score of 95 % intervals."""
    import numpy as np

    outside = np.maximum(lower - y, 0) + np.maximum(y - upper, 0)
    return float((upper - lower + 40 * outside).mean())


def score(y, mean, deviation) -> dict[str, float]:
    """RMSE, MAE, NLPD, coverage, and the continuous ranked probability score and the interval score (95 %)."""
    import numpy as np
    from scipy.stats import norm

    y, mean, deviation = (np.asarray(values, np.float64) for values in (y, mean, deviation))
    standard = (y - mean) / deviation
    density, below = norm.pdf(standard), norm.cdf(standard)
    crps = deviation * (standard * (2 * below - 1) + 2 * density - 1 / np.sqrt(np.pi))
    half = regression_metrics.NORMAL_QUANTILE_975 * deviation
    scores = regression_metrics.score(y, mean, deviation**2)
    return scores | {"crps": float(crps.mean()), "interval_score95": interval_score(y, mean - half, mean + half)}


def score_log_normal(y, mean, deviation) -> dict[str, float]:
    """As `score`, of targets whose logarithms have these means and standard deviations.

    The ranked probability score is `y(2Φ(z) − 1) − 2e^{μ+σ²/2}(Φ(z − σ) + Φ(σ/√2) − 1)` with z = (log y − μ)/σ
    (Baran and Lerch, 2015).
    """
    import numpy as np
    from scipy.stats import norm

    y, mean, deviation = (np.asarray(values, np.float64) for values in (y, mean, deviation))
    standard = (np.log(y) - mean) / deviation
    predicted = np.exp(mean + deviation**2 / 2)
    crps = y * (2 * norm.cdf(standard) - 1)
    crps -= 2 * predicted * (norm.cdf(standard - deviation) + norm.cdf(deviation / np.sqrt(2)) - 1)
    half = regression_metrics.NORMAL_QUANTILE_975 * deviation
    lower, upper = np.exp(mean - half), np.exp(mean + half)
    log_density = norm.logpdf(standard) - np.log(deviation) - np.log(y)
    return {
        "rmse": float(np.sqrt(np.mean((y - predicted) ** 2))),
        "mae": float(np.mean(np.abs(y - predicted))),
        "nlpd": -float(np.mean(log_density)),
        "coverage95": float(np.mean((lower <= y) & (y <= upper))),
        "crps": float(crps.mean()),
        "interval_score95": interval_score(y, lower, upper),
    }


def score_draws(y, mean, draws) -> dict[str, float]:
    """As `score` without the NLPD, of targets with these means and draws [N, S] of their distributions.

    The ranked probability score is `E|Y − y| − ½E|Y − Y'|`.
    """
    import numpy as np

    draws = np.sort(draws, axis=1)
    count = draws.shape[1]
    weights = 2 * np.arange(1, count + 1) - count - 1
    crps = np.abs(draws - y[:, None]).mean(1) - (draws @ weights) / (count * (count - 1))
    lower, upper = np.quantile(draws, [0.025, 0.975], axis=1)
    return {
        "rmse": float(np.sqrt(np.mean((y - mean) ** 2))),
        "mae": float(np.mean(np.abs(y - mean))),
        "coverage95": float(np.mean((lower <= y) & (y <= upper))),
        "crps": float(crps.mean()),
        "interval_score95": interval_score(y, lower, upper),
    }
