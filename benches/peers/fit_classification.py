"""Fit GPflow's whitened SVGP classifier with Adam; prints one JSON line.

`--data` is a compressed numpy file with x_train [N, D], y_train [N], x_test, y_test: inputs as the
model sees them, labels 0, 1, ...
"""

import argparse
import json
import time
from pathlib import Path

import fit_arguments
import processor_threads


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="the .npz file")
    parser.add_argument(
        "--likelihood", choices=["bernoulli", "softmax", "robust-max"], required=True
    )
    parser.add_argument("--report-every", type=int, default=0, help="steps between reports; 0: none")
    fit_arguments.add_to(parser)
    return parser.parse_args()


def likelihood(name: str, classes: int):
    """GPflow's likelihood and its number of latent functions."""
    import gpflow

    if name == "bernoulli":
        return gpflow.likelihoods.Bernoulli(), 1
    if name == "softmax":
        return gpflow.likelihoods.Softmax(classes), classes
    return gpflow.likelihoods.MultiClass(classes), classes


def draws(arguments, x) -> tuple:
    """The initial inducing points [M, D], and an iterator of mini-batches."""
    import numpy as np
    import random_draws

    if arguments.draws is not None:
        drawn = json.loads(arguments.draws.read_text())
        inducing = np.array(drawn["inducing"], arguments.dtype)
        return inducing, (np.array(rows, np.int64) for rows in drawn["batches"])
    rng = np.random.default_rng(arguments.seed)
    inducing = random_draws.initial_inducing(x, arguments.inducing, arguments.inducing_init, rng)
    return inducing, random_draws.random_batches(len(x), arguments.batch_size, rng)


def probabilities(model, x, binary: bool):
    """Class probabilities [N, C], in chunks."""
    import gpflow_training
    import numpy as np

    mean, _ = gpflow_training.predict(model, x)
    return np.hstack([1.0 - mean, mean]) if binary else mean


def main() -> None:
    arguments = parse_arguments()
    processor_threads.limit(arguments.threads)
    import classification_metrics
    import gpflow
    import gpflow_training
    import numpy as np
    import tensorflow as tf

    gpflow_training.configure(arguments.dtype, None)
    tf.random.set_seed(arguments.seed)
    data = np.load(arguments.data)
    x, x_test = (data[name].astype(arguments.dtype) for name in ("x_train", "x_test"))
    # GPflow's softmax takes integers, its other likelihoods the type of the inputs.
    integers = arguments.likelihood == "softmax"
    y = data["y_train"].astype("int32" if integers else arguments.dtype)[:, None]
    classes = int(y.max()) + 1
    inducing, batches = draws(arguments, x)
    chosen, latents = likelihood(arguments.likelihood, classes)
    model = gpflow.models.SVGP(
        gpflow_training.kernel(
            arguments.kernel,
            x.shape[1],
            arguments.isotropic,
            arguments.lengthscale,
            arguments.kernel_variance,
        ),
        chosen,
        inducing,
        num_latent_gps=latents,
        num_data=len(x),
    )
    start = time.perf_counter()
    step_seconds = gpflow_training.train_adam(
        model,
        x,
        y,
        arguments.steps,
        arguments.learning_rate,
        batches,
        arguments.report_every,
    )
    seconds = time.perf_counter() - start
    predicted = probabilities(model, x_test, arguments.likelihood == "bernoulli")
    report = {
        "peer": f"gpflow {gpflow.__version__}",
        "likelihood": arguments.likelihood,
        **classification_metrics.score(data["y_test"], predicted),
        "steps": arguments.steps,
        "seconds": seconds,
        "seconds_per_step": float(np.median(step_seconds)),
        "seed": arguments.seed,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
