"""Compares `burn-gp train --input-noise` with GPyTorch's regression on uncertain inputs; prints one table.

In each round, the target is a steep step of one input, 2/(1 + exp(-8x)), with little noise, and the input is recorded
with normal errors of a known standard deviation. The rows left out have exact inputs. All programs read the same files
and fit an RBF kernel and a constant mean: ours exact regression with corrected noise, the same without a word about the
errors, and GPyTorch's sparse variational model, which as in GPyTorch's documentation draws the inputs anew in every
step of Adam. Scores are the RMSE and the mean negative log predictive density (NLPD), noise included, in the units of
the target. Seconds are medians over the rounds: ours those of both processes, `train` and `predict`, GPyTorch's those
of reading, fit and predictions without imports.
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
    parser.add_argument("--rows", type=int, default=200)
    parser.add_argument("--test-rows", type=int, default=400)
    parser.add_argument("--input-noise", type=float, default=0.1, help="standard deviation of the errors of the input")
    parser.add_argument("--noise", type=float, default=0.05, help="standard deviation of the noise of the target")
    parser.add_argument("--peer-steps", type=int, default=2000)
    parser.add_argument("--peer-inducing", type=int, default=40)
    return parser.parse_args()


def write(arguments: argparse.Namespace, number: int, folder: Path) -> tuple[Path, Path]:
    """The files of training and of test rows."""
    numbers = random.Random(f"{arguments.seed} {number}")
    paths = folder / "train.csv", folder / "test.csv"
    counts, errors = (arguments.rows, arguments.test_rows), (arguments.input_noise, 0.0)
    for path, rows, error in zip(paths, counts, errors, strict=True):
        lines = ["x,y"]
        for _ in range(rows):
            x = numbers.uniform(-2, 2)
            y = 2 / (1 + math.exp(-8 * x)) + numbers.gauss(0, arguments.noise)
            lines.append(f"{x + numbers.gauss(0, error)},{y}")
        path.write_text("\n".join(lines) + "\n")
    return paths


def trained(arguments: argparse.Namespace, files: tuple[Path, Path], name: str, options: list) -> dict:
    """Predictions and seconds of our program."""
    fit = ["--model", "exact", "--kernel", "rbf", "--mean", "constant", "--dtype", "f64", *options]
    rows, seconds = rounds.fit_and_predict(arguments, *files, fit)
    columns = {of: [float(row[of]) for row in rows] for of in ("mean", "std")}
    return {"program": name, "seconds": seconds} | columns


def own(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Our program with the errors of the input."""
    return trained(arguments, (train, test), "burn-gp", ["--input-noise", f"x={arguments.input_noise}"])


def ignorant(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Our program, which takes the input as exact."""
    return trained(arguments, (train, test), "burn-gp, exact inputs", [])


def peer(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Predictions and seconds of GPyTorch."""
    command = [arguments.peers, FOLDER / "input_noise_gpytorch.py", "--train", train, "--test", test]
    command += ["--input-noise", arguments.input_noise, "--steps", arguments.peer_steps]
    command += ["--inducing", arguments.peer_inducing, "--threads", arguments.threads]
    return json_lines.run(command)[-1]


def scores(_: argparse.Namespace, files: tuple[Path, Path], mean: list, std: list) -> dict:
    """The RMSE and the NLPD of the test rows."""
    with files[1].open(newline="") as file:
        known = [float(row["y"]) for row in csv.DictReader(file)]
    return normal_scores.scores(known, mean, std)


def main() -> None:
    rounds.compare(parse_arguments(), [own, ignorant, peer], write, scores, COLUMNS)


if __name__ == "__main__":
    main()
