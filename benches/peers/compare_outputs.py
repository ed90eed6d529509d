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
import text_table

FOLDER = Path(__file__).resolve().parent
DIABETES = FOLDER.parents[1] / "datasets" / "data" / "diabetes.csv"
SERUM = ["tc", "ldl", "hdl", "tch", "ltg", "glu"]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, help="Python with gpytorch; without it, only our program runs")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--data", type=Path, default=DIABETES, help="a complete table of numbers with a header")
    parser.add_argument("--targets", nargs="+", default=SERUM)
    parser.add_argument("--rank", type=int, default=2)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: list[dict[str, str]]) -> None:
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(rows)


def own(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Predictions and seconds of our program."""
    model, predictions = train.parent / "run", train.parent / "predictions.csv"
    fit = [arguments.program, "train", "--data", train, "--targets", ",".join(arguments.targets)]
    fit += ["--kernel", "matern52", "--mean", "constant", "--dtype", "f64", "--test-fraction", "0"]
    fit += ["--rank", arguments.rank, "--steps", arguments.steps, "--out", model, "--overwrite", "--quiet"]
    predict = [arguments.program, "predict", "--model-dir", model, "--data", test, "--out", predictions]
    predict += ["--overwrite"]
    began = time.monotonic()
    for command in (fit, predict):
        json_lines.run([*command, "--threads", arguments.threads])
    seconds = time.monotonic() - began
    rows = read(predictions)

    def columns(of: str) -> list[list[float]]:
        return [[float(row[f"{target} {of}"]) for target in arguments.targets] for row in rows]

    return {"program": "burn-gp", "seconds": seconds, "mean": columns("mean"), "std": columns("std")}


def peer(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Predictions and seconds of GPyTorch."""
    command = [arguments.peers, FOLDER / "outputs_gpytorch.py", "--train", train, "--test", test]
    command += ["--targets", *arguments.targets, "--rank", arguments.rank]
    command += ["--steps", arguments.steps, "--threads", arguments.threads]
    return json_lines.run(command)[-1]


def scores(targets: list[str], train: list[dict], test: list[dict], result: dict) -> dict:
    """The RMSE and the NLPD, means over outputs in units of the training targets."""
    errors, densities = [], []
    for column, target in enumerate(targets):
        unit = statistics.pstdev([float(row[target]) for row in train])
        known = [float(row[target]) for row in test]
        standardized = [
            ((mean[column] - y) / unit, std[column] / unit)
            for y, mean, std in zip(known, result["mean"], result["std"], strict=True)
        ]
        errors.append(math.sqrt(statistics.fmean(error**2 for error, _ in standardized)))
        densities.append(
            statistics.fmean(
                0.5 * math.log(2 * math.pi * std**2) + 0.5 * (error / std) ** 2 for error, std in standardized
            )
        )
    return {"rmse": statistics.fmean(errors), "nlpd": statistics.fmean(densities)}


def compare(arguments: argparse.Namespace, number: int, folder: Path) -> list[dict]:
    """The scores of all programs in one round."""
    rows = read(arguments.data)
    random.Random(f"{arguments.seed} {number}").shuffle(rows)
    count = len(rows) // 10
    test, train = rows[:count], rows[count:]
    paths = folder / "train.csv", folder / "test.csv"
    write(paths[0], train)
    write(paths[1], test)
    results = []
    for program in (own, peer) if arguments.peers else (own,):
        found = program(arguments, *paths)
        of_round = {"round": number, "program": found["program"], "seconds": found["seconds"]}
        results.append(of_round | scores(arguments.targets, train, test, found))
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
