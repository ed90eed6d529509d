"""Fit a GPflow model on one split of a regression set; prints one JSON line.

Models: `gpr` (exact GP) and `sgpr` (collapsed bound) by L-BFGS-B, `svgp` (whitened, full
covariance) by Adam on mini-batches. Inputs and target are standardized with training statistics;
scores are in standardized units with the noise included.
"""

import argparse
import hashlib
import json
import time
from pathlib import Path

import fit_arguments
import processor_threads


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", choices=["gpr", "sgpr", "svgp"], required=True)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--name", required=True, help="a set in --data-dir, such as concrete")
    parser.add_argument("--split", type=int, default=0, help="column of the test mask")
    parser.add_argument("--noise-variance", type=float, default=1.0, help="initial value")
    parser.add_argument("--jitter", type=float, help="absolute; default: 1e-6 (float32: 1e-4)")
    fit_arguments.add_to(parser)
    return parser.parse_args()


def draws(arguments, train, data) -> tuple:
    """Initial inducing points [M, D] in standardized units, and an iterator of mini-batches."""
    import numpy as np
    import random_draws

    if arguments.draws is None:
        rng = np.random.default_rng(arguments.seed)
        inducing = None
        if arguments.model != "gpr":
            inducing = random_draws.initial_inducing(
                data.x_train, arguments.inducing, arguments.inducing_init, rng
            )
        return inducing, random_draws.random_batches(len(train), arguments.batch_size, rng)
    drawn = json.loads(arguments.draws.read_text())
    if drawn["rows"] != train.tolist():
        raise SystemExit(f"{arguments.draws}: made for different training rows")
    inducing = np.array(drawn["inducing"], arguments.dtype)
    return inducing, (np.array(rows, np.int64) for rows in drawn["batches"])


def digest(path: Path | None) -> str | None:
    """A digest that identifies a file of draws."""
    return None if path is None else hashlib.sha256(path.read_bytes()).hexdigest()


def build(arguments, data, inducing):
    """The GPflow model with its initial parameters."""
    import gpflow
    import gpflow_training

    kernel = gpflow_training.kernel(
        arguments.kernel,
        data.x_train.shape[1],
        arguments.isotropic,
        arguments.lengthscale,
        arguments.kernel_variance,
    )
    likelihood = gpflow.likelihoods.Gaussian(variance=arguments.noise_variance)
    rows = (data.x_train, data.y_train)
    if arguments.model == "gpr":
        return gpflow.models.GPR(rows, kernel, likelihood=likelihood)
    if arguments.model == "sgpr":
        return gpflow.models.SGPR(rows, kernel, inducing, likelihood=likelihood)
    return gpflow.models.SVGP(
        kernel, likelihood, inducing, whiten=True, num_data=len(data.x_train)
    )


def fit(arguments, model, data, batches) -> dict:
    """Train; returns the final objective per datum and a report of the optimizer."""
    import gpflow
    import gpflow_training
    import numpy as np

    if arguments.model == "svgp":
        seconds = gpflow_training.train_adam(
            model,
            data.x_train,
            data.y_train,
            arguments.steps,
            arguments.learning_rate,
            batches,
        )
        objective = gpflow_training.svgp_objective(model, data.x_train, data.y_train)
        return {
            "objective": objective,
            "iterations": arguments.steps,
            "seconds_per_step": float(np.median(seconds)),
        }
    result = gpflow.optimizers.Scipy().minimize(
        model.training_loss,
        model.trainable_variables,
        method="L-BFGS-B",
        # scipy stops after 15000 evaluations or 15000 iterations unless told otherwise.
        options={"maxiter": arguments.steps, "maxfun": 10 * arguments.steps},
    )
    return {
        "objective": float(result.fun) / len(data.x_train),
        "iterations": int(result.nit),
        "evaluations": int(result.nfev),
        "converged": bool(result.success),
    }


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    import gpflow
    import gpflow_training
    import regression_data
    import regression_metrics

    jitter = gpflow_training.configure(arguments.dtype, arguments.jitter)
    table = regression_data.load(arguments.data_dir, arguments.name)
    train, test = regression_data.split_rows(arguments.data_dir, arguments.name, arguments.split)
    data = regression_data.standardize(table, train, test, arguments.dtype)
    inducing, batches = draws(arguments, train, data)
    model = build(arguments, data, inducing)
    start = time.perf_counter()
    outcome = fit(arguments, model, data, batches)
    seconds = time.perf_counter() - start
    mean, variance = gpflow_training.predict(model, data.x_test)
    report = {
        "peer": f"gpflow {gpflow.__version__}",
        "model": arguments.model,
        "name": arguments.name,
        "split": arguments.split,
        "kernel": arguments.kernel,
        "isotropic": arguments.isotropic,
        "inducing": None if inducing is None else len(inducing),
        "n_train": len(train),
        "n_test": len(test),
        "d": data.x_train.shape[1],
        **regression_metrics.score(data.y_test, mean, variance),
        **outcome,
        "seconds": seconds,
        "steps": arguments.steps,
        "batch_size": arguments.batch_size,
        "learning_rate": arguments.learning_rate,
        "initial_noise_variance": arguments.noise_variance,
        "seed": arguments.seed,
        "draws": digest(arguments.draws),
        "dtype": arguments.dtype,
        "jitter": jitter,
        **gpflow_training.hyperparameters(model),
    }
    report["rmse_original"] = report["rmse"] * data.target_scale
    print(json.dumps(report))


if __name__ == "__main__":
    main()
