"""Time one training step (forward, backward, Adam) of GPyTorch's deep GP; prints one JSON line.

The work of the case `deep` of `benches/deep_steps`: three layers, the first two of eight functions
around the identity, 500 inducing points per layer, 1000 rows of eight values, one draw, Gaussian noise,
whitened posteriors with full covariances, all parameters trained. The functions of a layer share a
kernel and inducing points, as in ours; with `--separate` each has its own, as in GPyTorch's examples.
"""

import argparse
import json

import processor_threads
import step_times


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--depth", type=int, default=3, help="layers")
    parser.add_argument("--inducing", type=int, default=500, help="inducing points per layer")
    parser.add_argument("--batch-size", type=int, default=1000)
    parser.add_argument(
        "--dimensions", type=int, default=8, help="inputs, and functions per hidden layer"
    )
    parser.add_argument(
        "--separate", action="store_true", help="a kernel and inducing points for every function"
    )
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def training_step(arguments):
    """A closure that does one step and returns the loss, and the versions."""
    import deep_gp
    import gpytorch
    import torch

    deep_gp.configure(arguments.dtype, arguments.threads)
    torch.manual_seed(0)
    x = torch.randn(arguments.batch_size, arguments.dimensions)
    y = x.sum(1).sin()
    inducing = torch.randn(arguments.inducing, arguments.dimensions)
    initial = deep_gp.InitialValues(hidden_variance=1.0)
    model = deep_gp.Model(inducing, arguments.depth, initial, arguments.separate)
    objective = deep_gp.objective(model, rows=20 * arguments.batch_size)
    optimizer = deep_gp.optimizer(model, learning_rate=1e-3)

    def step() -> float:
        with gpytorch.settings.num_likelihood_samples(1):
            optimizer.zero_grad()
            loss = -objective(model(x), y)
            loss.backward()
            optimizer.step()
            return loss.item()

    return step, deep_gp.versions()


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    step, versions = training_step(arguments)
    milliseconds, loss = step_times.measure(step, arguments.steps)
    report = {
        "program": "gpytorch, separate kernels" if arguments.separate else "gpytorch",
        "case": "deep",
        "dtype": arguments.dtype,
        "milliseconds": step_times.median(milliseconds),
        "peak_mebibytes": step_times.peak_mebibytes(),
        "depth": arguments.depth,
        "inducing": arguments.inducing,
        "batch_size": arguments.batch_size,
        "dimensions": arguments.dimensions,
        "final_loss": loss,
        "versions": versions,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
