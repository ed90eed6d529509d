"""Scores of normal predictions."""

import math
import statistics


def scores(targets: list[float], means: list[float], deviations: list[float]) -> dict[str, float]:
    """The RMSE of the means and the mean negative log predictive density (NLPD)."""
    errors = [y - mean for y, mean in zip(targets, means, strict=True)]
    densities = [
        0.5 * math.log(2 * math.pi * deviation**2) + 0.5 * (error / deviation) ** 2
        for error, deviation in zip(errors, deviations, strict=True)
    ]
    return {
        "rmse": math.sqrt(statistics.fmean(error**2 for error in errors)),
        "nlpd": statistics.fmean(densities),
    }
