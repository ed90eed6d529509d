"""Train GPyTorch's deep GP on kin40k as `burn-gp experiment deep-kin40k` trains ours (arXiv 2604.00697,
Table 1); prints one JSON line.

Eight functions around the identity in each layer before the last, whitened posteriors with full
covariances, ARD squared-exponential kernels, mini-batches, Adam, one draw per step. Lengthscales start at
2, variances at 1e-4 before the last layer and at 1 in it, the noise variance at 0.1, the standard
deviations of whitened inducing variables at 0.01, inducing points of every layer at the same k-means centers;
the learning rate is multiplied by 0.95 after `--plateau` steps without a lower loss. A single layer starts
with lengthscale, variance, noise variance and standard deviation 1 and keeps its learning rate.

Scores are on the test rows, in standardized units with the noise included: `nlpd` is that of the
mixture of the draws, `average_log_density` the mean log density over rows and draws.
"""

import argparse
import itertools
import json
import sys
import time
from pathlib import Path

import fit_regression
import processor_threads
import step_times

NAME = "kin40k"
PLATEAU_FACTOR = 0.95
LOWEST_FACTOR = 1e-3
# Draws and rows predicted at a time.
CHUNK_DRAWS = 10
CHUNK_ROWS = 500


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder that holds kin40k/")
    parser.add_argument("--split", type=int, default=0, help="column of the test mask")
    parser.add_argument(
        "--draws",
        type=Path,
        help="file with training rows, inducing points and first mini-batches, as printed by our "
        "example training_draws, instead of the split and random ones; all other rows are for "
        "testing",
    )
    parser.add_argument("--depth", type=int, default=3, help="layers")
    parser.add_argument("--inducing", type=int, default=500, help="inducing points per layer")
    parser.add_argument("--batch-size", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=200_000)
    parser.add_argument("--learning-rate", type=float, default=5e-3)
    parser.add_argument("--plateau", type=int, default=1000, help="patience of the learning rate, in steps")
    parser.add_argument("--samples", type=int, default=100, help="draws per prediction")
    parser.add_argument(
        "--separate", action="store_true", help="a kernel and inducing points for every function"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float64")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--report-every", type=int, default=0, help="steps between reports; 0: none")
    return parser.parse_args()


def prepare(arguments) -> tuple:
    """The standardized data, initial inducing points [M, D] and an iterator of mini-batches."""
    import numpy as np
    import random_draws
    import regression_data

    table = regression_data.load(arguments.data_dir, NAME)
    rng = np.random.default_rng(arguments.seed)
    if arguments.draws is None:
        train, test = regression_data.split_rows(arguments.data_dir, NAME, arguments.split)
        data = regression_data.standardize(table, train, test, arguments.dtype)
        inducing = random_draws.initial_inducing(data.x_train, arguments.inducing, "kmeans", rng)
        first = []
    else:
        drawn = json.loads(arguments.draws.read_text())
        train = np.array(drawn["rows"], np.int64)
        test = np.setdiff1d(np.arange(len(table)), train)
        data = regression_data.standardize(table, train, test, arguments.dtype)
        inducing = np.array(drawn["inducing"], arguments.dtype)
        if inducing.shape != (arguments.inducing, data.x_train.shape[1]):
            raise SystemExit(f"{arguments.draws}: inducing points of shape {inducing.shape}")
        first = [np.array(rows, np.int64) for rows in drawn["batches"]]
    batches = random_draws.random_batches(len(train), arguments.batch_size, rng)
    return data, inducing, itertools.chain(first, batches)


def initial_values(depth: int):
    import deep_gp

    if depth > 1:
        return deep_gp.InitialValues()
    return deep_gp.InitialValues(lengthscale=1.0, noise_variance=1.0, deviation=1.0)


def train(arguments, model, data, batches) -> float:
    """Trains with Adam on the mini-batches; returns the seconds."""
    import deep_gp
    import gpytorch
    import torch

    inputs, targets = torch.tensor(data.x_train), torch.tensor(data.y_train[:, 0])
    objective = deep_gp.objective(model, rows=len(inputs))
    optimizer = deep_gp.optimizer(model, arguments.learning_rate)
    plateau = None
    if arguments.depth > 1:
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
            optimizer,
            factor=PLATEAU_FACTOR,
            # PyTorch waits one step longer than its patience.
            patience=arguments.plateau - 1,
            threshold=0.0,
            min_lr=LOWEST_FACTOR * arguments.learning_rate,
        )
    model.train()
    start = time.perf_counter()
    for number in range(1, arguments.steps + 1):
        rows = torch.from_numpy(next(batches))
        with gpytorch.settings.num_likelihood_samples(1):
            optimizer.zero_grad()
            loss = -objective(model(inputs[rows]), targets[rows])
            loss.backward()
        optimizer.step()
        value = loss.item()
        if value != value:
            raise SystemExit(f"the loss is not a number at step {number}")
        if plateau is not None:
            plateau.step(value)
        if arguments.report_every and number % arguments.report_every == 0:
            print(f"step {number}: loss per datum {value:.4f}", file=sys.stderr)
    return time.perf_counter() - start


def draw_predictions(model, inputs, samples: int) -> tuple:
    """Means and variances [S, N] of observations, one row per draw of the hidden layers."""
    import gpytorch
    import random_draws
    import torch

    model.eval()
    parts = []
    for rows in random_draws.chunks(len(inputs), CHUNK_ROWS):
        draws = []
        for some in random_draws.chunks(samples, CHUNK_DRAWS):
            with torch.no_grad(), gpytorch.settings.num_likelihood_samples(some.stop - some.start):
                functions = model(inputs[rows])
                variance = functions.variance + model.likelihood.noise
                draws.append(torch.stack([functions.mean, variance]))
        parts.append(torch.cat(draws, dim=1))
    mean, variance = torch.cat(parts, dim=2).double().numpy()
    return mean, variance


def score(targets, mean, variance) -> dict[str, float]:
    """Scores of predictions [S, N] of `targets` [N]."""
    import numpy as np
    from scipy.special import logsumexp

    targets = targets.astype(np.float64)
    densities = -0.5 * (np.log(2.0 * np.pi * variance) + (targets - mean) ** 2 / variance)
    mixture = logsumexp(densities, axis=0) - np.log(len(densities))
    return {
        "nlpd": float(-mixture.mean()),
        "average_log_density": float(densities.mean()),
        "rmse": float(np.sqrt(np.mean((targets - mean.mean(axis=0)) ** 2))),
    }


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    import deep_gp
    import torch

    deep_gp.configure(arguments.dtype, arguments.threads)
    torch.manual_seed(arguments.seed)
    data, inducing, batches = prepare(arguments)
    model = deep_gp.Model(
        torch.tensor(inducing),
        arguments.depth,
        initial_values(arguments.depth),
        arguments.separate,
    )
    seconds = train(arguments, model, data, batches)
    # Without hidden layers every draw is the same.
    samples = arguments.samples if arguments.depth > 1 else 1
    predictions = draw_predictions(model, torch.tensor(data.x_test), samples)
    report = {
        "program": "gpytorch, separate kernels" if arguments.separate else "gpytorch",
        "data": NAME,
        "depth": arguments.depth,
        "posterior": "whitened",
        "seed": arguments.seed,
        **score(data.y_test[:, 0], *predictions),
        "train_seconds": seconds,
        "steps": arguments.steps,
        "inducing": arguments.inducing,
        "batch_size": arguments.batch_size,
        "learning_rate": arguments.learning_rate,
        "plateau": arguments.plateau,
        "samples": samples,
        "dtype": arguments.dtype,
        "split": arguments.split if arguments.draws is None else None,
        "draws": fit_regression.digest(arguments.draws),
        "n_train": len(data.x_train),
        "n_test": len(data.x_test),
        "noise_variance": model.likelihood.noise.item(),
        "peak_mebibytes": step_times.peak_mebibytes(),
        "versions": deep_gp.versions(),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
