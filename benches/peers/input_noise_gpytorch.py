"""Fits GPyTorch's variational regression to inputs with errors; prints one JSON line of predictions and seconds.

The model is that of GPyTorch's documentation, "GP Regression with Uncertain Inputs": a sparse variational Gaussian
process whose training inputs are drawn from their normal distributions in every step, trained by Adam with a step of
0.01. The kernel is RBF with a constant mean, in double precision. Inputs and targets are standardized by the training
rows, and predictions are in the units of the targets, with the noise. Seconds are those of reading, fit and
predictions, but not imports.
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
    parser.add_argument("--input-noise", type=float, required=True)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--inducing", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def fit(arguments: argparse.Namespace, x, y, deviation: float, new_x):
    """Means and standard deviations of new rows, both [n], for standardized rows, [N, 1] and [N]."""
    import gpytorch
    import torch

    torch.set_num_threads(arguments.threads)
    torch.manual_seed(0)
    x, y, new_x = (torch.tensor(values, dtype=torch.float64) for values in (x, y, new_x))
    inducing = torch.linspace(x.min().item(), x.max().item(), arguments.inducing, dtype=torch.float64)[:, None]

    class Variational(gpytorch.models.ApproximateGP):
        def __init__(self):
            distribution = gpytorch.variational.CholeskyVariationalDistribution(arguments.inducing)
            strategy = gpytorch.variational.VariationalStrategy(self, inducing, distribution)
            super().__init__(strategy)
            self.mean_module = gpytorch.means.ConstantMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, inputs):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(inputs), self.covar_module(inputs))

    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Variational().double()
    objective = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(y))
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.01)
    model.train()
    likelihood.train()
    for _ in range(arguments.steps):
        optimizer.zero_grad()
        drawn = x + deviation * torch.randn_like(x)
        loss = -objective(model(drawn), y)
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
    import numpy as np
    import regression_data

    began = time.monotonic()
    train, test = (np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2) for path in (arguments.train, arguments.test))
    (x, y), new_x = (train[:, :1], train[:, 1:]), test[:, :1]
    (mean, scale), (center, unit) = regression_data.statistics(x), regression_data.statistics(y)
    deviation = arguments.input_noise / float(scale[0])
    standardized = ((x - mean) / scale, ((y - center) / unit)[:, 0])
    means, deviations, version = fit(arguments, *standardized, deviation, (new_x - mean) / scale)
    result = {
        "program": "gpytorch",
        "version": version,
        "seconds": time.monotonic() - began,
        "mean": (means * float(unit[0]) + float(center[0])).tolist(),
        "std": (deviations * float(unit[0])).tolist(),
    }
    print(json.dumps(result))


if __name__ == "__main__":
    main()
