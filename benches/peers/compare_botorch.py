"""Compares exact regression, its leave-one-out predictions and `--transform` with BoTorch; prints one table.

By default, rows of four inputs and one positive target with noise in proportion to its size are simulated; `--data` is
a table of numbers with a header, whose last column is the target. In each round, the rows are shuffled and a fifth is
left out for scores. Both programs read the same files and fit a Matérn-5/2 kernel with a lengthscale for each input, a
variance, a constant mean and a noise variance in double precision, each with its own priors and its own L-BFGS. With
`--transform log` both model the logarithm of the target. Scores are those of the targets themselves: the mean negative
log predictive density (NLPD) with the Jacobian, in units of the standard deviation of the training targets, and the
RMSE of the predictive means divided by it; of the test rows, and of the training rows, each predicted from all others
(LOO). Each program is a process of its own, in turns. Seconds are medians over the rounds: ours are those of the whole
process, BoTorch's those of fit, predictions and leave-one-out predictions without imports and reading.
"""

import argparse
import csv
import json
import math
import random
import statistics
import time
from pathlib import Path

import json_lines
import normal_scores
import rounds

FOLDER = Path(__file__).resolve().parent

NAMES = ["a", "b", "c", "d", "y"]

# Of the central 95 % of a normal distribution, in standard deviations.
HALF_WIDTH = statistics.NormalDist().inv_cdf(0.975)

COLUMNS = [
    ("RMSE", "rmse", rounds.mean),
    ("NLPD", "nlpd", rounds.mean),
    ("LOO RMSE", "others_rmse", rounds.mean),
    ("LOO NLPD", "others_nlpd", rounds.mean),
    ("seconds", "seconds", rounds.seconds),
    ("of LOO", "others_seconds", lambda values: f"{statistics.median(values):.3f}" if values else "-"),
]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    rounds.add_arguments(parser)
    parser.add_argument("--data", type=Path, help="a table of numbers with a header")
    parser.add_argument("--rows", type=int, default=500, help="simulated rows")
    parser.add_argument("--transform", choices=["none", "log"], default="log")
    return parser.parse_args()


def simulated(draws: random.Random) -> list[float]:
    """A row: four inputs and the target."""
    x = [draws.random() for _ in range(4)]
    return [*x, math.exp(2 * math.sin(6 * x[0]) + x[1] * math.cos(4 * x[2]) + draws.gauss(0, 0.2))]


def write(arguments: argparse.Namespace, number: int, folder: Path) -> list[Path]:
    """The files of training and of test rows."""
    draws = random.Random(f"{arguments.seed} {number}")
    header, rows = rounds.shuffled_table(arguments.data, NAMES, simulated, arguments.rows, draws)
    count = len(rows) // 5
    paths = [folder / "train.csv", folder / "test.csv"]
    for path, part in zip(paths, (rows[count:], rows[:count]), strict=True):
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([header, *part])
    return paths


def targets(path: Path) -> list[float]:
    with path.open(newline="") as file:
        return [float(row[-1]) for row in list(csv.reader(file))[1:]]


def own(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Predictions, leave-one-out scores and seconds of our program."""
    folder = train.parent / "run"
    fit = [arguments.program, "train", "--data", train, "--test", test, "--model", "exact", "--kernel", "matern52"]
    fit += ["--mean", "constant", "--dtype", "f64", "--out", folder, "--overwrite", "--quiet"]
    name = train.read_text().splitlines()[0].split(",")[-1]
    fit += ["--transform", f"{name}={arguments.transform}", "--threads", arguments.threads]
    began = time.monotonic()
    json_lines.run(fit)
    seconds = time.monotonic() - began
    with (folder / "predictions.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    lower, upper = ([float(row[column]) for row in rows] for column in ("lower", "upper"))
    if arguments.transform == "log":
        lower, upper = ([math.log(value) for value in values] for values in (lower, upper))
    ends = list(zip(lower, upper, strict=True))
    others = json.loads((folder / "metrics.json").read_text())["leave_one_out"]
    return {
        "program": "burn-gp",
        "seconds": seconds,
        "mean": [(low + high) / 2 for low, high in ends],
        "std": [(high - low) / 2 / HALF_WIDTH for low, high in ends],
        "others_rmse": others["rmse"],
        "others_nlpd": others["nlpd"],
    }


def peer(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Predictions, leave-one-out scores and seconds of BoTorch."""
    command = [arguments.peers, FOLDER / "botorch_regression.py", "--train", train, "--test", test]
    command += ["--transform", arguments.transform, "--threads", arguments.threads]
    found = json_lines.run(command)[-1]
    others = found.pop("others")
    found["seconds"] += found["others_seconds"]
    scored = scores(arguments, [train, train], others["mean"], others["std"])
    return found | {f"others_{key}": value for key, value in scored.items()}


def scores(arguments: argparse.Namespace, files: list[Path], mean: list[float], std: list[float]) -> dict:
    """The scores of the second file, in units of the standard deviation of the first one's targets."""
    unit, known = statistics.pstdev(targets(files[0])), targets(files[1])
    if arguments.transform == "none":
        of_targets = normal_scores.scores(known, mean, std)
        return {"rmse": of_targets["rmse"] / unit, "nlpd": of_targets["nlpd"] - math.log(unit)}
    logarithms = [math.log(value) for value in known]
    density = normal_scores.scores(logarithms, mean, std)["nlpd"]
    means = [math.exp(m + s**2 / 2) for m, s in zip(mean, std, strict=True)]
    error = normal_scores.scores(known, means, std)["rmse"]
    return {"rmse": error / unit, "nlpd": density + statistics.fmean(logarithms) - math.log(unit)}


def main() -> None:
    rounds.compare(parse_arguments(), [own, peer], write, scores, COLUMNS)


if __name__ == "__main__":
    main()
