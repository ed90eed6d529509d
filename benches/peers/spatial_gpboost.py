"""Fits GPBoost's Vecchia approximation to one table of locations; prints one JSON line of scores and seconds.

With Gaussian noise, the mean is that of the training targets, or of their logarithms. With the gamma likelihood, it is
a constant among the parameters. The kernel is an exponential or a Matérn of the distance: in the units of the table, or
with `--sphere` in kilometers on a straight line through the Earth. Seconds are those of the whole work in Python:
reading both files, the fit and the predictions, but not imports.
"""

import argparse
import json
import time
from pathlib import Path

import likelihood_gpboost
import spatial_scores

SMOOTHNESS = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5}
DRAWS = 1000


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True, help="CSV file, gzipped or not")
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--sphere", nargs=2, metavar=("LON", "LAT"), help="columns of degrees on the sphere")
    parser.add_argument("--kernel", choices=SMOOTHNESS, default="matern12")
    parser.add_argument("--likelihood", choices=["gaussian", "gamma"], default="gaussian")
    parser.add_argument("--transform", choices=["log"], help="of the target, with Gaussian noise")
    parser.add_argument("--neighbors", type=int, default=30)
    parser.add_argument("--prediction-neighbors", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def model_of(arguments: argparse.Namespace, x):
    import gpboost

    return gpboost.GPModel(
        gp_coords=x,
        cov_function="matern",
        cov_fct_shape=SMOOTHNESS[arguments.kernel],
        likelihood=arguments.likelihood,
        gp_approx="vecchia",
        num_neighbors=arguments.neighbors,
        num_parallel_threads=arguments.threads,
    )


def gaussian(arguments: argparse.Namespace, x, y, new_x):
    """A function that scores predictions, which are made here."""
    import numpy as np

    values = np.log(y) if arguments.transform else y
    model = model_of(arguments, x)
    # With a constant among the parameters, its fit to 105,569 rows ends far from the optimum.
    mean = values.mean()
    model.fit(y=values - mean)
    model.set_prediction_data(num_neighbors_pred=arguments.prediction_neighbors)
    predicted = model.predict(gp_coords_pred=new_x, predict_var=True, predict_response=True)
    means, deviations = predicted["mu"] + mean, np.sqrt(predicted["var"])
    score = spatial_scores.score_log_normal if arguments.transform else spatial_scores.score
    return lambda new_y: score(new_y, means, deviations)


def gamma(arguments: argparse.Namespace, x, y, new_x):
    """As `gaussian`, with the gamma likelihood and a logarithmic link."""
    import numpy as np

    model = model_of(arguments, x)
    model.fit(y=y, X=np.ones((len(y), 1)))
    model.set_prediction_data(num_neighbors_pred=arguments.prediction_neighbors)
    options = {"gp_coords_pred": new_x, "X_pred": np.ones((len(new_x), 1)), "predict_var": True}
    function = model.predict(**options, predict_response=False)
    means = model.predict(**options, predict_response=True)["mu"]
    parameters = model.get_aux_pars(format_pandas=False)
    variance = np.maximum(function["var"], 1e-12)

    def scores(new_y):
        densities = likelihood_gpboost.log_predictive_density("gamma", new_y, function["mu"], variance, parameters)
        random = np.random.default_rng(0)
        drawn = random.standard_normal((len(new_y), DRAWS)) * np.sqrt(variance)[:, None] + function["mu"][:, None]
        drawn = random.gamma(parameters[0], np.exp(drawn) / parameters[0])
        return spatial_scores.score_draws(new_y, means, drawn) | {"nlpd": -float(densities.mean())}

    return scores


def main() -> None:
    arguments = parse_arguments()
    import gpboost

    began = time.monotonic()
    (x, y), (new_x, new_y) = (
        spatial_scores.read(path, arguments.target, arguments.sphere) for path in (arguments.train, arguments.test)
    )
    score = {"gaussian": gaussian, "gamma": gamma}[arguments.likelihood](arguments, x, y, new_x)
    seconds = time.monotonic() - began
    print(json.dumps({"program": "gpboost", "version": gpboost.__version__, "seconds": seconds} | score(new_y)))


if __name__ == "__main__":
    main()
