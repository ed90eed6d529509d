"""Fits GPyTorch's exact regression to many data sets in one batch; prints one JSON line of predictions and seconds.

The rows of a table are those of several data sets of equal size, which the column `set` names; the target is `y`, all
other columns are inputs. All data sets are one `ExactGP` with a batch axis, as GPyTorch's documentation recommends:
Matérn-5/2 kernels with lengthscales, outputscales, means and noise variances of their own, in double precision, trained
by Adam with a step of 0.1. Inputs and targets are standardized by the training rows of each data set. Seconds are those
of reading, fit and predictions, but not imports.
"""

import argparse
import json
import time
from pathlib import Path

import processor_threads


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True)
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def read(path: Path):
    """Inputs [B, N, D] and targets [B, N] of a table whose rows are ordered by their data set."""
    import numpy as np

    names = path.read_text().splitlines()[0].split(",")
    table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    sets, target = names.index("set"), names.index("y")
    inputs = [column for column in range(len(names)) if column not in (sets, target)]
    count = len(set(table[:, sets]))
    return table[:, inputs].reshape(count, -1, len(inputs)), table[:, target].reshape(count, -1)


def fit(arguments: argparse.Namespace, x, y, new_x):
    """Means and standard deviations of new rows, [B, n], for standardized rows."""
    import gpytorch
    import torch

    torch.set_num_threads(arguments.threads)
    x, y, new_x = (torch.tensor(values, dtype=torch.float64) for values in (x, y, new_x))
    batch = torch.Size([x.shape[0]])

    class Batch(gpytorch.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean(batch_shape=batch)
            kernel = gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=x.shape[2], batch_shape=batch)
            self.covar_module = gpytorch.kernels.ScaleKernel(kernel, batch_shape=batch)

        def forward(self, inputs):
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(inputs), self.covar_module(inputs)
            )

    likelihood = gpytorch.likelihoods.GaussianLikelihood(batch_shape=batch).double()
    model = Batch(likelihood).double()
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model.train()
    likelihood.train()
    for _ in range(arguments.steps):
        optimizer.zero_grad()
        loss = -objective(model(x), y).sum()
        loss.backward()
        optimizer.step()
    model.eval()
    likelihood.eval()
    with torch.no_grad():
        predicted = likelihood(model(new_x))
        return predicted.mean.numpy(), predicted.variance.sqrt().numpy(), gpytorch.__version__


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    import gpytorch  # noqa: F401 - imported before the clock starts

    began = time.monotonic()
    (x, y), (new_x, _) = read(arguments.train), read(arguments.test)
    mean, scale = x.mean(axis=1, keepdims=True), x.std(axis=1, keepdims=True)
    center, unit = y.mean(axis=1, keepdims=True), y.std(axis=1, keepdims=True)
    means, deviations, version = fit(arguments, (x - mean) / scale, (y - center) / unit, (new_x - mean) / scale)
    result = {
        "program": "gpytorch",
        "version": version,
        "seconds": time.monotonic() - began,
        "mean": (means * unit + center).ravel().tolist(),
        "std": (deviations * unit).ravel().tolist(),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
