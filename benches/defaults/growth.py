"""Measures how time and memory of a model grow with the rows; prints one table.

For each number of rows, places are drawn at random in a square. The target is a sum of three sines plus noise with
standard deviation 0.2. The model is trained on all of them, with as many steps for each number of rows, and saved.
Then it predicts new places. `fit` has the seconds of the whole `train` process, from the file to the saved model, and
`steps` those of the training steps alone. `million` has the seconds of a million predictions: those of a `predict`
process, less those of one that predicts a single row. Memory is the peak of the `train` process. Each `growth` is the
ratio to the line before, for ten times as many rows: 10 is linear. `error` is the RMSE to the function without noise.

Files of ten million rows take 300 MB, in the folder of `--folder` or a temporary one.
"""

import argparse
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import program_runs
from program_runs import Program

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers"))
import text_table  # noqa: E402

NOISE = 0.2
# Rows that are written at once.
PART = 100_000
HEADER = ["rows", "fit (s)", "growth", "steps (s)", "growth", "million (s)", "growth", "memory (MB)", "growth", "error"]


def function(first: float, second: float) -> float:
    return math.sin(36 * first) + math.cos(31 * second + 5 * first) + 0.3 * math.sin(80 * first * second)


def write(path: Path, rows: int, seed: int) -> None:
    draws = random.Random(seed)
    with path.open("w") as file:
        file.write("a,b,y\n")
        for begin in range(0, rows, PART):
            lines = []
            for _ in range(min(PART, rows - begin)):
                a, b = draws.random(), draws.random()
                lines.append(f"{a:.6f},{b:.6f},{function(a, b) + NOISE * draws.gauss(0, 1):.5f}\n")
            file.write("".join(lines))


def measured(program: Program, *words) -> tuple[float, float]:
    """The seconds and the peak memory of a process in MB."""
    environment = dict(os.environ)
    if program.threads is not None:
        environment["RAYON_NUM_THREADS"] = str(program.threads)
    began = time.monotonic()
    with tempfile.TemporaryFile() as messages:
        process = subprocess.Popen(
            [str(word) for word in (program.path, *words)], stdout=messages, stderr=messages, env=environment
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            messages.seek(0)
            raise SystemExit(messages.read().decode(errors="replace"))
    # Kilobytes on Linux, bytes on macOS.
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return time.monotonic() - began, usage.ru_maxrss / unit


def error_of(predictions: Path, places: Path) -> float:
    """The RMSE of predicted means to the function."""
    squares, count = 0.0, 0
    with predictions.open(newline="") as found, places.open(newline="") as given:
        for line, place in zip(csv.DictReader(found), csv.DictReader(given), strict=True):
            squares += (float(line["mean"]) - function(float(place["a"]), float(place["b"]))) ** 2
            count += 1
    return math.sqrt(squares / count)


def measure(arguments: argparse.Namespace, program: Program, rows: int, folder: Path) -> dict:
    table, model = folder / f"{rows}.csv", folder / "model"
    write(table, rows, rows)
    words = ["train", "--data", table, "--target", "y", "--test-fraction", 0, "--model", arguments.model]
    words += ["--kernel", arguments.kernel, "--steps", arguments.steps, "--out", model, "--overwrite", "--quiet"]
    fit, memory = measured(program, *words, *arguments.extra.split())
    metrics = json.loads((model / "metrics.json").read_text())
    seconds = {}
    for count in (1, arguments.predictions):
        write(folder / "new.csv", count, 0)
        words = ["predict", "--model-dir", model, "--data", folder / "new.csv", "--out", folder / "predictions.csv"]
        seconds[count], _ = measured(program, *words, "--overwrite")
    error = error_of(folder / "predictions.csv", folder / "new.csv")
    million = (seconds[arguments.predictions] - seconds[1]) * 1e6 / (arguments.predictions - 1)
    table.unlink()
    steps = metrics["train_seconds"]
    return {"rows": rows, "fit": fit, "steps": steps, "million": million, "memory": memory, "error": error}


def line(run: dict, before: dict | None) -> list[str]:
    cells = [str(run["rows"])]
    for name, digits in (("fit", 1), ("steps", 1), ("million", 1), ("memory", 0)):
        cells.append(f"{run[name]:.{digits}f}")
        # Seconds of few predictions can vanish behind those of starting.
        if before and min(run[name], before[name]) > 0:
            decades = math.log10(run["rows"] / before["rows"])
            cells.append(f"{(run[name] / before[name]) ** (1 / decades):.1f}")
        else:
            cells.append("-")
    return [*cells, f"{run['error']:.4f}"]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, required=True, help="a built burn-gp")
    parser.add_argument("--rows", type=int, nargs="+", default=[10**5, 10**6, 10**7], help="in ascending order")
    parser.add_argument("--predictions", type=int, default=10**5, help="new rows (default: 100000)")
    parser.add_argument("--model", default="vecchia")
    parser.add_argument("--kernel", default="matern32")
    parser.add_argument("--steps", type=int, default=10, help="of training (default: 10)")
    parser.add_argument("--extra", default="", metavar="OPTIONS", help="more options for `train`")
    parser.add_argument("--threads", type=int, help="threads (default: all processors)")
    parser.add_argument("--folder", type=Path, help="existing folder for the files (default: a temporary one)")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    arguments.jobs = 1
    if arguments.predictions < 2 or sorted(set(arguments.rows)) != arguments.rows:
        parser.error("expected at least two predictions, and numbers of rows in ascending order")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    program = program_runs.program_of(arguments)
    runs: list[dict] = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as created:
        for rows in arguments.rows:
            runs.append(measure(arguments, program, rows, Path(created)))
            print(json.dumps(runs[-1]), file=sys.stderr, flush=True)
            if arguments.out:
                arguments.out.write_text(json.dumps(runs, indent=1) + "\n")
    print(text_table.render(HEADER, [line(run, before) for run, before in zip(runs, [None, *runs], strict=False)]))


if __name__ == "__main__":
    main()
