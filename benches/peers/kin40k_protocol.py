"""GPflow SVGP on kin40k under the protocol of "Sparse Orthogonal Variational Inference for
Gaussian Processes" (arXiv 1910.10596, regression benchmarks); prints one JSON line.

Random 64/16/20 train/validation/test split by seed, M = 1024, Matern-3/2 with one shared
lengthscale, zero mean, unwhitened q(u) with full covariance, Adam 0.01 for 100 epochs of batches of
1024 rows (25 steps per epoch on 25 600 rows). Inputs and target are standardized with training
statistics; scores are on the test part, in standardized units. The paper does not say how the
inducing points start; `--inducing-init` chooses.
"""

import argparse
import json
import resource
import time
from pathlib import Path

import processor_threads


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder that holds kin40k/")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--rows",
        type=Path,
        help="file with the row numbers (from 0) for train, validation and test: a JSON object with "
        "these keys, a JSON list of three lists, or three lines of numbers",
    )
    parser.add_argument("--write-rows", type=Path, help="write the row numbers used, as JSON")
    parser.add_argument("--inducing", type=int, default=1024)
    parser.add_argument("--inducing-init", choices=["kmeans", "subset"], default="kmeans")
    parser.add_argument("--steps", type=int, default=2500)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--lengthscale", type=float, default=1.0, help="initial value")
    parser.add_argument("--kernel-variance", type=float, default=1.0, help="initial value")
    parser.add_argument("--noise-variance", type=float, default=1.0, help="initial value")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float64")
    parser.add_argument("--jitter", type=float, help="absolute; default: 1e-6 (float32: 1e-4)")
    parser.add_argument("--whiten", action="store_true", help="whiten q(u), which departs from the protocol")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--report-every", type=int, default=250, help="steps between reports; 0: none")
    return parser.parse_args()


def random_rows(count: int, seed: int):
    """80/20 train/test, then 20 % of the training rows for validation."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(count)
    fitted, held = round(0.64 * count), round(0.8 * count)
    return {
        "train": order[:fitted],
        "validation": order[fitted:held],
        "test": order[held:],
    }


def read_rows(path: Path, count: int):
    """The three lists of row numbers of `--rows`, checked."""
    import numpy as np

    names = ("train", "validation", "test")
    text = path.read_text()
    if text.lstrip()[:1] in ("{", "["):
        content = json.loads(text)
        lists = [content[name] for name in names] if isinstance(content, dict) else content
    else:
        lists = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
    if len(lists) != 3:
        raise SystemExit(f"{path}: expected three lists of row numbers, found {len(lists)}")
    rows = {name: np.asarray(part, dtype=np.int64) for name, part in zip(names, lists)}
    every = np.concatenate(list(rows.values()))
    if len(np.unique(every)) != len(every) or every.min() < 0 or every.max() >= count:
        raise SystemExit(f"{path}: a row number is repeated or outside 0 to {count - 1}")
    return rows


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    import gpflow
    import gpflow_training
    import numpy as np
    import random_draws
    import regression_data
    import regression_metrics

    jitter = gpflow_training.configure(arguments.dtype, arguments.jitter)
    table = regression_data.load(arguments.data_dir, "kin40k")
    if arguments.rows is None:
        rows = random_rows(len(table), arguments.seed)
    else:
        rows = read_rows(arguments.rows, len(table))
    if arguments.write_rows is not None:
        arguments.write_rows.write_text(json.dumps({k: v.tolist() for k, v in rows.items()}))
    data = regression_data.standardize(table, rows["train"], rows["test"], arguments.dtype)
    rng = np.random.default_rng(arguments.seed)
    model = gpflow.models.SVGP(
        gpflow_training.kernel(
            "matern32",
            data.x_train.shape[1],
            True,
            arguments.lengthscale,
            arguments.kernel_variance,
        ),
        gpflow.likelihoods.Gaussian(variance=arguments.noise_variance),
        random_draws.initial_inducing(
            data.x_train, arguments.inducing, arguments.inducing_init, rng
        ),
        whiten=arguments.whiten,
        num_data=len(data.x_train),
    )
    start = time.perf_counter()
    step_seconds = gpflow_training.train_adam(
        model,
        data.x_train,
        data.y_train,
        arguments.steps,
        arguments.learning_rate,
        random_draws.random_batches(len(data.x_train), arguments.batch_size, rng),
        arguments.report_every,
    )
    seconds = time.perf_counter() - start
    mean, variance = gpflow_training.predict(model, data.x_test)
    scores = regression_metrics.score(data.y_test, mean, variance)
    report = {
        "peer": f"gpflow {gpflow.__version__}",
        "model": "svgp-whitened" if arguments.whiten else "svgp-unwhitened",
        "name": "kin40k",
        "inducing": arguments.inducing,
        "n_train": len(rows["train"]),
        "n_test": len(rows["test"]),
        "d": data.x_train.shape[1],
        **scores,
        "mean_log_density": -scores["nlpd"],
        "objective": gpflow_training.svgp_objective(model, data.x_train, data.y_train),
        "steps": arguments.steps,
        "seconds": seconds,
        "seconds_per_step": float(np.median(step_seconds)),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "seed": arguments.seed,
        "dtype": arguments.dtype,
        "jitter": jitter,
        **gpflow_training.hyperparameters(model),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
