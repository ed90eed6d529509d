"""Fits GPyTorch's multitask regression to a complete table; prints one JSON line of predictions and seconds.

The model is that of GPyTorch's documentation: `MultitaskKernel` over a Matérn-5/2 kernel with a lengthscale for each
input, a constant mean and a noise variance for each output, in double precision, trained by Adam with a step of 0.1.
Inputs and targets are standardized by the training rows, and predictions are in the units of the targets, with the
noise. Seconds are those of reading, fit and predictions, but not imports.
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
    parser.add_argument("--targets", nargs="+", required=True)
    parser.add_argument("--rank", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def read(path: Path, targets: list[str]):
    """Inputs [N, D] and targets [N, P] of a table with a header."""
    import numpy as np

    names = path.read_text().splitlines()[0].split(",")
    table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    of_targets = [names.index(target) for target in targets]
    of_inputs = [column for column in range(len(names)) if column not in of_targets]
    return table[:, of_inputs], table[:, of_targets]


def fit(arguments: argparse.Namespace, x, y, new_x):
    """Means and standard deviations of new rows, both [n, P], for standardized rows."""
    import gpytorch
    import torch

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    x, y, new_x = (torch.tensor(values, dtype=torch.float64) for values in (x, y, new_x))
    outputs = y.shape[1]

    class Multitask(gpytorch.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.MultitaskMean(gpytorch.means.ConstantMean(), num_tasks=outputs)
            of_inputs = gpytorch.kernels.MaternKernel(nu=2.5, ard_num_dims=x.shape[1])
            self.covar_module = gpytorch.kernels.MultitaskKernel(
                of_inputs, num_tasks=outputs, rank=arguments.rank
            )

        def forward(self, inputs):
            return gpytorch.distributions.MultitaskMultivariateNormal(
                self.mean_module(inputs), self.covar_module(inputs)
            )

    likelihood = gpytorch.likelihoods.MultitaskGaussianLikelihood(num_tasks=outputs).double()
    model = Multitask(likelihood).double()
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
    with torch.no_grad():
        predicted = likelihood(model(new_x))
        return predicted.mean.numpy(), predicted.variance.sqrt().numpy(), gpytorch.__version__


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    import gpytorch  # noqa: F401 - imported before the clock starts
    import regression_data

    began = time.monotonic()
    (x, y), (new_x, _) = (read(path, arguments.targets) for path in (arguments.train, arguments.test))
    (mean, scale), (center, unit) = regression_data.statistics(x), regression_data.statistics(y)
    means, deviations, version = fit(arguments, (x - mean) / scale, (y - center) / unit, (new_x - mean) / scale)
    result = {
        "program": "gpytorch",
        "version": version,
        "seconds": time.monotonic() - began,
        "mean": (means * unit + center).tolist(),
        "std": (deviations * unit).tolist(),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
