"""Compares `burn-gp train --by` with a batch of exact regressions in GPyTorch; prints one table.

Each data set has rows of two inputs, and a function with a length of its own. Both programs read the same files and fit
to each data set a Matérn-5/2 kernel with a lengthscale for each input, a constant mean and a noise variance, in double
precision, with the same number of steps (of each program's own optimizer), and predict test rows of the same data sets.
Scores are the mean negative log predictive density (NLPD) and the RMSE over all test rows. Each program is a process of
its own, in turns. Seconds are medians over the rounds: ours those of both processes, `train` and `predict`, GPyTorch's
those of reading, fit and predictions without imports.
"""

import argparse
import csv
import math
import random
from pathlib import Path

import json_lines
import normal_scores
import rounds

FOLDER = Path(__file__).resolve().parent

COLUMNS = [("RMSE", "rmse", rounds.mean), ("NLPD", "nlpd", rounds.mean), ("seconds", "seconds", rounds.seconds)]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    rounds.add_arguments(parser)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--rows", type=int, default=50, help="training rows of each data set")
    parser.add_argument("--test-rows", type=int, default=20)
    parser.add_argument("--steps", type=int, default=100)
    return parser.parse_args()


def write(arguments: argparse.Namespace, number: int, folder: Path) -> tuple[Path, Path]:
    """Training and test rows of all data sets, ordered by data set."""
    draws = random.Random(f"{arguments.seed} {number}")
    paths = folder / "train.csv", folder / "test.csv"
    with paths[0].open("w", newline="") as train, paths[1].open("w", newline="") as test:
        tables = [csv.writer(train), csv.writer(test)]
        for table in tables:
            table.writerow(["set", "first", "second", "y"])
        for name in range(arguments.sets):
            length = 0.5 + draws.random()
            for table, rows in zip(tables, (arguments.rows, arguments.test_rows), strict=True):
                for _ in range(rows):
                    first, second = 3 * draws.random(), 3 * draws.random()
                    y = math.sin(first / length * 2) + 0.5 * second + draws.gauss(0, 0.1)
                    table.writerow([name, first, second, y])
    return paths


def own(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Predictions and seconds of our program."""
    fit = ["--by", "set", "--target", "y", "--model", "exact", "--kernel", "matern52", "--mean", "constant"]
    fit += ["--dtype", "f64", "--steps", arguments.steps]
    rows, seconds = rounds.fit_and_predict(arguments, train, test, fit)
    mean, std = ([float(row[column]) for row in rows] for column in ("mean", "std"))
    return {"program": "burn-gp", "seconds": seconds, "mean": mean, "std": std}


def peer(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Predictions and seconds of GPyTorch."""
    command = [arguments.peers, FOLDER / "many_gpytorch.py", "--train", train, "--test", test]
    return json_lines.run([*command, "--steps", arguments.steps, "--threads", arguments.threads])[-1]


def scores(_: argparse.Namespace, files: tuple[Path, Path], mean: list[float], std: list[float]) -> dict:
    """The scores of all test rows."""
    with files[1].open(newline="") as file:
        known = [float(row["y"]) for row in csv.DictReader(file)]
    return normal_scores.scores(known, mean, std)



def main() -> None:
    rounds.compare(parse_arguments(), [own, peer], write, scores, COLUMNS)


if __name__ == "__main__":
    main()
