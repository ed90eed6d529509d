"""Compares `burn-gp train --targets` with GPyTorch's multitask regression on a complete table; prints one table.

By default the outputs are the six blood serum measurements of the diabetes data, and the inputs all other columns. In
each round, a tenth of the rows, drawn at random, is left out for scores. Both programs read the same files, fit a
Matérn-5/2 kernel with a lengthscale for each input, a covariance of outputs of the same rank, a constant mean and a
noise variance for each output, in double precision, with the same number of steps (of each program's own optimizer),
and predict the rows left out. Scores are means over outputs: the RMSE divided by the standard deviation of the output's
training targets, and the mean negative log predictive density (NLPD) in that unit. Each program is a process of its
own, in turns. Seconds are medians over the rounds: ours those of both processes, `train` and `predict`, GPyTorch's
those of reading, fit and predictions without imports.
"""

import argparse
import csv
import random
import statistics
from pathlib import Path

import json_lines
import normal_scores
import rounds

FOLDER = Path(__file__).resolve().parent
DIABETES = FOLDER.parents[1] / "datasets" / "data" / "diabetes.csv"
SERUM = ["tc", "ldl", "hdl", "tch", "ltg", "glu"]

COLUMNS = [("RMSE", "rmse", rounds.mean), ("NLPD", "nlpd", rounds.mean), ("seconds", "seconds", rounds.seconds)]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    rounds.add_arguments(parser)
    parser.add_argument("--data", type=Path, default=DIABETES, help="a complete table of numbers with a header")
    parser.add_argument("--targets", nargs="+", default=SERUM)
    parser.add_argument("--rank", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100)
    return parser.parse_args()


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_table(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


def own(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Predictions and seconds of our program."""
    fit = ["--targets", ",".join(arguments.targets), "--kernel", "matern52", "--mean", "constant", "--dtype", "f64"]
    fit += ["--rank", arguments.rank, "--steps", arguments.steps]
    rows, seconds = rounds.fit_and_predict(arguments, train, test, fit)

    def columns(of: str) -> list[list[float]]:
        return [[float(row[f"{target} {of}"]) for target in arguments.targets] for row in rows]

    return {"program": "burn-gp", "seconds": seconds, "mean": columns("mean"), "std": columns("std")}


def peer(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Predictions and seconds of GPyTorch."""
    command = [arguments.peers, FOLDER / "outputs_gpytorch.py", "--train", train, "--test", test]
    command += ["--targets", *arguments.targets, "--rank", arguments.rank]
    command += ["--steps", arguments.steps, "--threads", arguments.threads]
    return json_lines.run(command)[-1]


def write(arguments: argparse.Namespace, number: int, folder: Path) -> tuple[Path, Path]:
    """The files of training and of test rows."""
    rows = read(arguments.data)
    random.Random(f"{arguments.seed} {number}").shuffle(rows)
    count = len(rows) // 10
    paths = folder / "train.csv", folder / "test.csv"
    write_table(paths[0], rows[count:])
    write_table(paths[1], rows[:count])
    return paths


def scores(arguments: argparse.Namespace, files: tuple[Path, Path], mean: list, std: list) -> dict:
    """The RMSE and the NLPD, means over outputs in units of the training targets."""
    train, test = (read(path) for path in files)
    each = []
    for column, target in enumerate(arguments.targets):
        unit = statistics.pstdev([float(row[target]) for row in train])
        known, means, deviations = (
            [value / unit for value in values]
            for values in (
                [float(row[target]) for row in test],
                [row[column] for row in mean],
                [row[column] for row in std],
            )
        )
        each.append(normal_scores.scores(known, means, deviations))
    return {key: statistics.fmean(own[key] for own in each) for key in ("rmse", "nlpd")}



def main() -> None:
    rounds.compare(parse_arguments(), [own, peer], write, scores, COLUMNS)


if __name__ == "__main__":
    main()
