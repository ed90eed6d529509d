"""Fits GPBoost's Vecchia-Laplace approximation with one likelihood; prints one JSON line of scores and seconds.

The first two columns of a table are places, `y` is the target, `trials` the number of trials of which it counts the
successes. The kernel is a Matérn-5/2 with a lengthscale for each
column, the mean a constant. The log predictive density of a test row is an integral over GPBoost's normal function, by
Gauss-Hermite quadrature. Seconds are those of the whole work in Python, but not imports.
"""

import argparse
import json
import time
from pathlib import Path

import spatial_scores

NODES = 60
TWEEDIE_TERMS = 400


def log_density(likelihood: str, y, f, parameters, trials):
    """`log p(y | f)` with GPBoost's parameters: of [N, 1] targets, [N, S] functions and [N, 1] trials."""
    import numpy as np
    from scipy import stats
    from scipy.special import expit, gammaln, logsumexp

    if likelihood == "bernoulli_probit":
        return stats.norm.logcdf((2 * y - 1) * f)
    mean = np.exp(f)
    if likelihood == "poisson":
        return stats.poisson.logpmf(y, mean)
    if likelihood == "negative_binomial":
        return stats.nbinom.logpmf(y, parameters[0], parameters[0] / (parameters[0] + mean))
    if likelihood == "gamma":
        return stats.gamma.logpdf(y, parameters[0], scale=mean / parameters[0])
    if likelihood == "beta":
        return stats.beta.logpdf(y, parameters[0] * expit(f), parameters[0] * expit(-f))
    if likelihood == "binomial_logit":
        return stats.binom.logpmf(y, trials, expit(f))
    if likelihood == "beta_binomial":
        return stats.betabinom.logpmf(y, trials, parameters[0] * expit(f), parameters[0] * expit(-f))
    dispersion, power = parameters
    rate = mean ** (2 - power) / (dispersion * (2 - power))
    shape, scale = (2 - power) / (power - 1), dispersion * (power - 1) * mean ** (power - 1)
    # The series over the number of gamma variables, without factors of the function.
    positive = np.where(y > 0, y, 1.0)
    log = positive ** (2 - power) / dispersion
    log = np.log(log / (2 - power)) + shape * np.log(log / (power - 1))
    numbers = np.arange(1.0, TWEEDIE_TERMS + 1)
    series = logsumexp(numbers * log - gammaln(numbers + 1) - gammaln(numbers * shape), axis=1, keepdims=True)
    return np.where(y > 0, series - rate - positive / scale - np.log(positive), -rate)


def log_predictive_density(likelihood: str, y, mean, variance, parameters, trials):
    """`log E[p(y | f)]` of [N] targets under normal functions."""
    import numpy as np
    from scipy.special import logsumexp

    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    f = mean[:, None] + np.sqrt(variance)[:, None] * nodes
    log_weights = np.log(weights / weights.sum())
    return logsumexp(log_density(likelihood, y[:, None], f, parameters, trials[:, None]) + log_weights, axis=1)


def read(path: Path):
    """Places, targets, and trials, which are one for targets without them."""
    import numpy as np

    x, y = spatial_scores.read(path, "y")
    trials = x[:, 2] if x.shape[1] > 2 else np.ones(len(y))
    # GPBoost reads the memory of a column of a table as if it were that of a vector.
    return np.ascontiguousarray(x[:, :2]), np.ascontiguousarray(y), np.ascontiguousarray(trials)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--likelihood", required=True)
    parser.add_argument("--neighbors", type=int, default=30)
    parser.add_argument("--prediction-neighbors", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    import gpboost
    import numpy as np

    began = time.monotonic()
    (x, y, trials), (new_x, new_y, new_trials) = (read(path) for path in (arguments.train, arguments.test))
    has_trials = arguments.likelihood in ["binomial_logit", "beta_binomial"]
    model = gpboost.GPModel(
        gp_coords=x,
        cov_function="matern_ard",
        cov_fct_shape=2.5,
        likelihood=arguments.likelihood,
        gp_approx="vecchia",
        num_neighbors=arguments.neighbors,
        num_parallel_threads=arguments.threads,
        weights=trials if has_trials else None,
    )
    # Successes are proportions, and the weights are their trials.
    model.fit(y=y / trials, X=np.ones((len(y), 1)))
    model.set_prediction_data(num_neighbors_pred=arguments.prediction_neighbors)

    def predict(response: bool):
        constant = np.ones((len(new_y), 1))
        return model.predict(
            gp_coords_pred=new_x, X_pred=constant, predict_var=True, predict_response=response
        )

    function, response = predict(False), predict(True)
    seconds = time.monotonic() - began
    parameters = model.get_aux_pars(format_pandas=False)
    densities = log_predictive_density(
        arguments.likelihood, new_y, function["mu"], np.maximum(function["var"], 1e-12), parameters, new_trials
    )
    scores = {
        "nlpd": -float(densities.mean()),
        "rmse": float(np.sqrt(np.mean((new_y - new_trials * response["mu"]) ** 2))),
    }
    print(json.dumps({"program": "gpboost", "version": gpboost.__version__, "seconds": seconds} | scores))


if __name__ == "__main__":
    main()
