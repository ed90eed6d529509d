"""Fits GPBoost's Vecchia approximation to one table of locations; prints one JSON line of scores and seconds.

The mean is that of the training targets, the kernel an exponential or a Matérn of the distance in the units of the
table. Seconds are those of the whole work in Python: reading both files, the fit and the predictions, but not imports.
"""

import argparse
import json
import time
from pathlib import Path

import spatial_scores

SMOOTHNESS = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True, help="CSV file, gzipped or not")
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--kernel", choices=SMOOTHNESS, default="matern12")
    parser.add_argument("--neighbors", type=int, default=30)
    parser.add_argument("--prediction-neighbors", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    import gpboost
    import numpy as np

    began = time.monotonic()
    (x, y), (new_x, new_y) = (
        spatial_scores.read(path, arguments.target) for path in (arguments.train, arguments.test)
    )
    model = gpboost.GPModel(
        gp_coords=x,
        cov_function="matern",
        cov_fct_shape=SMOOTHNESS[arguments.kernel],
        likelihood="gaussian",
        gp_approx="vecchia",
        num_neighbors=arguments.neighbors,
        num_parallel_threads=arguments.threads,
    )
    # With a constant among the parameters, its fit to 105,569 rows ends far from the optimum.
    mean = y.mean()
    model.fit(y=y - mean)
    model.set_prediction_data(num_neighbors_pred=arguments.prediction_neighbors)
    predicted = model.predict(gp_coords_pred=new_x, predict_var=True, predict_response=True)
    seconds = time.monotonic() - began
    deviations = np.sqrt(predicted["var"])
    scores = spatial_scores.score(new_y, predicted["mu"] + mean, deviations)
    print(json.dumps({"program": "gpboost", "version": gpboost.__version__, "seconds": seconds} | scores))


if __name__ == "__main__":
    main()
