"""Compares `burn-gp update` with `get_fantasy_model` of GPyTorch; prints one table.

By default, rows of four inputs are simulated; `--data` is a table of numbers with a header, whose last column is the
target. In each round, its rows are shuffled: a tenth is for scores, `--more` rows are new, and the others are for
training. Both programs read the same files, fit exact regression with a Matérn-5/2 kernel with a lengthscale for each
input and a constant mean, in double precision, with the same number of steps (of each program's own optimizer), take
the new rows without training, and predict the rows left out. Scores are the RMSE and the mean negative log predictive
density (NLPD). `difference` is the largest difference of a mean, in standard deviations of the target, from that of a
model of all rows with the same hyperparameters; that of our program is tested by `models/tests/it/fit/observations.rs`.
Each program is a process of its own, in turns. Seconds are medians over the rounds: ours those of the processes
`train`, and `update` with `predict`; GPyTorch's those without imports and reading.
"""

import argparse
import csv
import math
import random
import time
from pathlib import Path

import json_lines
import normal_scores
import rounds

FOLDER = Path(__file__).resolve().parent

NAMES = ["a", "b", "c", "d", "y"]

COLUMNS = [
    ("RMSE", "rmse", rounds.mean),
    ("NLPD", "nlpd", rounds.mean),
    ("seconds of training", "train_seconds", rounds.seconds),
    ("of update", "update_seconds", rounds.seconds),
    ("difference", "difference", rounds.largest),
]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    rounds.add_arguments(parser)
    parser.add_argument("--data", type=Path, help="a table of numbers with a header")
    parser.add_argument("--rows", type=int, default=2000, help="simulated rows")
    parser.add_argument("--more", type=int, default=100, help="new rows")
    parser.add_argument("--steps", type=int, default=50)
    return parser.parse_args()


def simulated(draws: random.Random) -> list[float]:
    """A row: four inputs and the target."""
    x = [draws.random() for _ in range(4)]
    return [*x, math.sin(6 * x[0]) + x[1] * math.cos(4 * x[2]) + draws.gauss(0, 0.1)]


def write(arguments: argparse.Namespace, number: int, folder: Path) -> list[Path]:
    """The files of training, new and test rows."""
    draws = random.Random(f"{arguments.seed} {number}")
    header, rows = rounds.shuffled_table(arguments.data, NAMES, simulated, arguments.rows, draws)
    test = len(rows) // 10
    ends = [0, test, test + arguments.more, len(rows)]
    parts = {"test": 0, "more": 1, "train": 2}
    for name, part in parts.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows[ends[part] : ends[part + 1]]])
    return [folder / f"{name}.csv" for name in ("train", "more", "test")]


def own(arguments: argparse.Namespace, train: Path, more: Path, test: Path) -> dict:
    """Predictions and seconds of our program."""
    folder = train.parent
    models, predictions = [folder / name for name in ("run", "updated")], folder / "predictions.csv"
    fit = [arguments.program, "train", "--data", train, "--model", "exact", "--kernel", "matern52"]
    fit += ["--mean", "constant", "--dtype", "f64", "--test-fraction", "0", "--steps", arguments.steps]
    fit += ["--out", models[0], "--overwrite", "--quiet"]
    update = [arguments.program, "update", "--model-dir", models[0], "--data", more, "--out", models[1], "--overwrite"]
    predict = [arguments.program, "predict", "--model-dir", models[1], "--data", test, "--out", predictions]
    times = [time.monotonic()]
    for command in (fit, update, [*predict, "--overwrite"]):
        json_lines.run([*command, "--threads", arguments.threads])
        times.append(time.monotonic())
    with predictions.open(newline="") as file:
        rows = list(csv.DictReader(file))
    mean, std = ([float(row[column]) for row in rows] for column in ("mean", "std"))
    seconds = {"train_seconds": times[1] - times[0], "update_seconds": times[3] - times[1]}
    return {"program": "burn-gp", "mean": mean, "std": std} | seconds


def peer(arguments: argparse.Namespace, train: Path, more: Path, test: Path) -> dict:
    """Predictions and seconds of GPyTorch."""
    command = [arguments.peers, FOLDER / "updates_gpytorch.py", "--train", train, "--more", more, "--test", test]
    return json_lines.run([*command, "--steps", arguments.steps, "--threads", arguments.threads])[-1]


def scores(_: argparse.Namespace, files: list[Path], mean: list[float], std: list[float]) -> dict:
    """The scores of the test rows."""
    with files[2].open(newline="") as file:
        known = [float(row[-1]) for row in list(csv.reader(file))[1:]]
    return normal_scores.scores(known, mean, std)



def main() -> None:
    rounds.compare(parse_arguments(), [own, peer], write, scores, COLUMNS)


if __name__ == "__main__":
    main()
