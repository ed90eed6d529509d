"""Fits BoTorch's `SingleTaskGP`; prints one JSON line of predictions of new rows, of leave-one-out predictions of the
training rows, and of seconds.

The kernel is Matérn-5/2 with a lengthscale for each input and a variance, in double precision, trained by
`fit_gpytorch_mll`. Inputs are standardized by the training rows; the targets are standardized after `--transform`.
Results are the means and the standard deviations of `log y` for the transformation `log`, else of `y`, with the noise.
Leave-one-out predictions are those of `efficient_loo_cv`, at the hyperparameters of all rows. Seconds are those of fit
and predictions, but not imports.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import processor_threads


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--transform", choices=["none", "log"], default="none")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def fit(arguments: argparse.Namespace, x, y) -> tuple:
    """The fitted model, and its transformation to standardized targets."""
    import torch
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms.outcome import ChainedOutcomeTransform, Log, Standardize
    from gpytorch.kernels import MaternKernel, ScaleKernel
    from gpytorch.mlls import ExactMarginalLogLikelihood

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    standardize = Standardize(m=1)
    transform = {
        "none": standardize,
        "log": ChainedOutcomeTransform(log=Log(), standardize=standardize),
    }[arguments.transform]
    kernel = ScaleKernel(MaternKernel(nu=2.5, ard_num_dims=x.shape[1]))
    model = SingleTaskGP(x, y, covar_module=kernel, outcome_transform=transform)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    return model.eval(), standardize


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    warnings.filterwarnings("ignore")
    import botorch
    import botorch.fit
    import botorch.models
    import numpy as np
    import regression_data
    import torch
    from botorch.cross_validation import efficient_loo_cv

    train, test = (np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2) for path in (arguments.train, arguments.test))
    center, unit = regression_data.statistics(train[:, :-1])
    x, new_x = (torch.tensor((rows[:, :-1] - center) / unit) for rows in (train, test))
    y = torch.tensor(train[:, -1:])
    began = time.monotonic()
    model, standardize = fit(arguments, x, y)
    fitted = time.monotonic()
    mean, scale = standardize.means.item(), standardize.stdvs.item()

    def in_units(distribution) -> dict[str, list[float]]:
        means, deviations = distribution.mean.flatten(), distribution.variance.flatten().sqrt()
        return {"mean": (means * scale + mean).tolist(), "std": (deviations * scale).tolist()}

    with torch.no_grad():
        predicted = in_units(model.likelihood(model(model.transform_inputs(new_x))))
        began_others = time.monotonic()
        others = in_units(efficient_loo_cv(model, untransform=False).posterior)
    result = {
        "program": f"BoTorch {botorch.__version__}",
        "seconds": began_others - began,
        "fit_seconds": fitted - began,
        "others_seconds": time.monotonic() - began_others,
        "others": others,
    }
    print(json.dumps(result | predicted))


if __name__ == "__main__":
    main()
