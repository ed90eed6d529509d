"""Options and a training loop with regular scoring, for `svgp_curve.py` and `classifier_curve.py`."""

import argparse
import json
import time
from collections.abc import Callable

# Each library's default precision.
DTYPES = {"gpflow": "float64", "gpytorch": "float32"}


def parser(description: str, steps: int) -> argparse.ArgumentParser:
    """A parser of the common options, with this default number of steps."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("peer", choices=list(DTYPES))
    parser.add_argument("--started", type=float, default=time.time())
    parser.add_argument("--inducing", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--learning-rate", type=float, default=0.01, help="learning rate of Adam")
    parser.add_argument("--steps", type=int, default=steps)
    parser.add_argument("--score-every", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    return parser


def run(arguments, data, start: str, models: dict[str, Callable], score: Callable) -> None:
    """Trains and prints a JSON line each time the model is scored.

    `start` is the choice of the first inducing points. A model is made from the arguments, the data and
    these points, as a function that takes a step on some rows and one that predicts the test rows, whose
    result `score` turns into figures.
    """
    import numpy as np
    import random_draws

    rng = np.random.default_rng(arguments.seed)
    inducing = random_draws.initial_inducing(data.x_train, arguments.inducing, start, rng)
    batches = random_draws.random_batches(len(data.x_train), arguments.batch_size, rng)
    step, predict = models[arguments.peer](arguments, data, inducing)
    scoring = 0.0
    for number in range(1, arguments.steps + 1):
        step(next(batches))
        if number % arguments.score_every == 0 or number == arguments.steps:
            seconds = time.time() - arguments.started - scoring
            began = time.time()
            scores = score(predict())
            scoring += time.time() - began
            print(json.dumps({"step": number, "seconds": seconds, **scores}), flush=True)
