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
import json
import math
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import cargo_executable
import json_lines
import normal_scores
import text_table

FOLDER = Path(__file__).resolve().parent


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, help="Python with gpytorch; without it, only our program runs")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--rows", type=int, default=50, help="training rows of each data set")
    parser.add_argument("--test-rows", type=int, default=20)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="JSON file to write")
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
    model, predictions = train.parent / "run", train.parent / "predictions.csv"
    fit = [arguments.program, "train", "--data", train, "--by", "set", "--target", "y", "--model", "exact"]
    fit += ["--kernel", "matern52", "--mean", "constant", "--dtype", "f64", "--test-fraction", "0"]
    fit += ["--steps", arguments.steps, "--out", model, "--overwrite", "--quiet"]
    predict = [arguments.program, "predict", "--model-dir", model, "--data", test, "--out", predictions]
    predict += ["--overwrite"]
    began = time.monotonic()
    for command in (fit, predict):
        json_lines.run([*command, "--threads", arguments.threads])
    seconds = time.monotonic() - began
    with predictions.open(newline="") as file:
        rows = list(csv.DictReader(file))
    mean, std = ([float(row[column]) for row in rows] for column in ("mean", "std"))
    return {"program": "burn-gp", "seconds": seconds, "mean": mean, "std": std}


def peer(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Predictions and seconds of GPyTorch."""
    command = [arguments.peers, FOLDER / "many_gpytorch.py", "--train", train, "--test", test]
    return json_lines.run([*command, "--steps", arguments.steps, "--threads", arguments.threads])[-1]


def compare(arguments: argparse.Namespace, number: int, folder: Path) -> list[dict]:
    """The scores of all programs in one round."""
    train, test = write(arguments, number, folder)
    with test.open(newline="") as file:
        known = [float(row["y"]) for row in csv.DictReader(file)]
    results = []
    for program in (own, peer) if arguments.peers else (own,):
        found = program(arguments, train, test)
        of_round = {"round": number, "program": found["program"], "seconds": found["seconds"]}
        results.append(of_round | normal_scores.scores(known, found["mean"], found["std"]))
        print(f"round {number}: {json.dumps(results[-1])}", file=sys.stderr, flush=True)
    return results


def main() -> None:
    arguments = parse_arguments()
    arguments.program = arguments.program or cargo_executable.build("bin", "burn-gp")
    results = []
    with tempfile.TemporaryDirectory() as created:
        for number in range(1, arguments.rounds + 1):
            results += compare(arguments, number, Path(created))
    programs: dict[str, list[dict]] = {}
    for result in results:
        programs.setdefault(result["program"], []).append(result)
    rows = []
    for program, of_program in programs.items():
        cells = [f"{statistics.fmean(result[key] for result in of_program):.4f}" for key in ("rmse", "nlpd")]
        seconds = statistics.median(result["seconds"] for result in of_program)
        rows.append([program, *cells, f"{seconds:.2f}"])
    print(text_table.render(["program", "RMSE", "NLPD", "seconds"], rows))
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
