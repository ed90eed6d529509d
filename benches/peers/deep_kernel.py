"""Trains GPyTorch's exact deep kernel learning on one input; prints one JSON line.

The data and the model are those of `burn-gp experiment dbk-synthetic` (arXiv 2505.18526, section
4.1): three jumps on [-1, 1], noise of variance 0.01, 1000 held-out rows; a perceptron of two layers
of 128 hyperbolic tangents with two outputs before a squared-exponential kernel, Adam with learning
rate 1e-3 and weight decay 1e-4 for the network. The settings of the solver are the paper's.
"""

import argparse
import json
import math

import processor_threads
import step_times

HELD_OUT = 1000
NOISE = 0.1
FIRST_NOISE = 1e-2
UNITS = 128
FEATURES = 2
CONJUGATE_GRADIENTS = 512
LOVE_RANK = 512


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def levels(x):
    """The function without noise."""
    import numpy as np

    first, second, third = (1 / (1 + np.exp(-200 * (x - jump))) for jump in (-0.6, 0.0, 0.4))
    steps = 0.3 * (1 - first) + 0.9 * (first - second) - 0.6 * (second - third)
    return steps + 0.01 * np.sin(50 * np.sin(10 * x))


def synthetic(rows: int, seed: int):
    """Inputs [N, 1] and targets [N]."""
    import numpy as np

    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, rows)
    return x[:, None], levels(x) + NOISE * rng.standard_normal(rows)


def deep_kernel(arguments):
    """The model, its likelihood and a closure that takes a step and returns the loss."""
    import gpytorch
    import torch
    from torch.nn import Linear, Sequential, Tanh

    x, y = (torch.tensor(array) for array in synthetic(arguments.rows, 2 * arguments.seed))
    x, y = x.to(torch.get_default_dtype()), y.to(torch.get_default_dtype())

    class DeepKernel(gpytorch.models.ExactGP):
        def __init__(self, likelihood):
            super().__init__(x, y, likelihood)
            self.network = Sequential(
                Linear(1, UNITS), Tanh(), Linear(UNITS, UNITS), Tanh(), Linear(UNITS, FEATURES)
            )
            self.mean_module = gpytorch.means.ZeroMean()
            base = gpytorch.kernels.RBFKernel(ard_num_dims=FEATURES)
            self.covar_module = gpytorch.kernels.ScaleKernel(base)

        def forward(self, inputs):
            features = self.network(inputs)
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(features), self.covar_module(features)
            )

    above = gpytorch.constraints.GreaterThan(1e-6)
    likelihood = gpytorch.likelihoods.GaussianLikelihood(noise_constraint=above)
    likelihood.noise = FIRST_NOISE
    model = DeepKernel(likelihood)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    others = [*model.covar_module.parameters(), *likelihood.parameters()]
    groups = [
        {"params": model.network.parameters(), "weight_decay": 1e-4},
        {"params": others},
    ]
    optimizer = torch.optim.Adam(groups, lr=1e-3)
    model.train()

    def step() -> float:
        optimizer.zero_grad()
        with gpytorch.settings.max_cg_iterations(CONJUGATE_GRADIENTS):
            loss = -objective(model(x), y)
            loss.backward()
        optimizer.step()
        return loss.item()

    return model, likelihood, step


def scores(model, likelihood, seed: int) -> dict:
    """Errors and mean negative log density of the held-out rows."""
    import gpytorch
    import torch

    x, y = (torch.tensor(array) for array in synthetic(HELD_OUT, 2 * seed + 1))
    x, y = x.to(torch.get_default_dtype()), y.to(torch.get_default_dtype())
    model.eval()
    with (
        torch.no_grad(),
        gpytorch.settings.fast_pred_var(),
        gpytorch.settings.max_cg_iterations(CONJUGATE_GRADIENTS),
        gpytorch.settings.max_root_decomposition_size(LOVE_RANK),
    ):
        predicted = likelihood(model(x))
        mean, variance = predicted.mean, predicted.variance
    error = y - mean
    density = 0.5 * ((2 * math.pi * variance).log() + error**2 / variance)
    return {
        "mae": error.abs().mean().item(),
        "rmse": (error**2).mean().sqrt().item(),
        "nlpd": density.mean().item(),
    }


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    import gpytorch
    import torch

    torch.set_num_threads(arguments.threads)
    torch.set_default_dtype(getattr(torch, arguments.dtype))
    torch.manual_seed(arguments.seed)
    model, likelihood, step = deep_kernel(arguments)
    milliseconds, loss = step_times.measure(step, arguments.steps)
    report = {
        "program": "gpytorch, exact",
        "case": "deep-kernel",
        "rows": arguments.rows,
        "dtype": arguments.dtype,
        "steps": step_times.WARM_UP + arguments.steps,
        "milliseconds": step_times.median(milliseconds),
        "final_loss": loss,
        **scores(model, likelihood, arguments.seed),
        "peak_mebibytes": step_times.peak_mebibytes(),
        "versions": f"gpytorch {gpytorch.__version__}, torch {torch.__version__}",
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
