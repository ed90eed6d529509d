"""Adds rows to a trained exact regression in GPyTorch; prints one JSON line of predictions and seconds.

The target is the last column, all others are inputs. The kernel is a Matérn-5/2 with a lengthscale for each input, the
mean a constant, in double precision, trained by Adam with a step of 0.1. New rows are added by `get_fantasy_model`,
which extends the factor of the covariance matrix. Inputs and targets are standardized by the training rows. Beside the
predictions of the updated model are those of a new model of all rows with the same hyperparameters. Both factor the
covariance matrix, as `max_cholesky_size` asks, whatever the number of rows. Seconds are those of the fit and of the
update with predictions.
"""

import argparse
import json
import time
from pathlib import Path

import processor_threads


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--more", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def predictions(model, likelihood, x):
    """Means and standard deviations of targets."""
    import torch

    with torch.no_grad():
        predicted = likelihood(model(x))
        return predicted.mean.numpy(), predicted.variance.sqrt().numpy()


def run(arguments: argparse.Namespace, rows):
    """The updated and the new model's predictions of standardized test rows, and seconds."""
    import gpytorch
    import torch

    torch.set_num_threads(arguments.threads)
    (x, y), (more_x, more_y), (new_x, _) = (
        (torch.tensor(own[:, :-1], dtype=torch.float64), torch.tensor(own[:, -1], dtype=torch.float64))
        for own in rows
    )

    class Exact(gpytorch.models.ExactGP):
        def __init__(self, x, y, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            kernel = gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=x.shape[1])
            self.covar_module = gpytorch.kernels.ScaleKernel(kernel)

        def forward(self, inputs):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(inputs), self.covar_module(inputs)
            )

    began = time.monotonic()
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Exact(x, y, likelihood).double()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model.train()
    likelihood.train()
    for _ in range(arguments.steps):
        optimizer.zero_grad()
        loss = -objective(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    likelihood.eval()
    # A fantasy model needs the caches of a prediction.
    predictions(model, likelihood, new_x)
    fitted = time.monotonic()
    updated = predictions(model.get_fantasy_model(more_x, more_y), likelihood, new_x)
    ended = time.monotonic()
    all_rows = Exact(torch.cat([x, more_x]), torch.cat([y, more_y]), likelihood).double()
    all_rows.load_state_dict(model.state_dict())
    all_rows.eval()
    return updated, predictions(all_rows, likelihood, new_x), (fitted - began, ended - fitted)


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    import gpytorch
    import numpy as np
    import regression_data

    paths = (arguments.train, arguments.more, arguments.test)
    tables = [np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2) for path in paths]
    mean, scale = regression_data.statistics(tables[0])
    with gpytorch.settings.max_cholesky_size(1_000_000):
        updated, expected, seconds = run(arguments, [(table - mean) / scale for table in tables])
    result = {
        "program": "gpytorch",
        "version": gpytorch.__version__,
        "train_seconds": seconds[0],
        "update_seconds": seconds[1],
        "mean": (updated[0] * scale[-1] + mean[-1]).tolist(),
        "std": (updated[1] * scale[-1]).tolist(),
        "difference": float(np.abs(updated[0] - expected[0]).max()),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
