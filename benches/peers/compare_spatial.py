"""Compares `burn-gp train --model vecchia` with GPBoost's Vecchia approximation on one table; prints one table.

Both read the same files, fit the same kernel with the same number of neighbors, and predict the test rows. GPBoost's
kernel has one lengthscale, ours one for each input, which is standardized; `--extra` changes ours. Each program is a
process of its own, in turns. Seconds are medians over the rounds: ours those of the whole process,
GPBoost's those of reading, fit and predictions without imports. Scores are in the units of the table.
"""

import argparse
import gzip
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cargo_executable
import json_lines
import text_table

FOLDER = Path(__file__).resolve().parent
SCORES = {"rmse": "RMSE", "mae": "MAE", "crps": "CRPS", "interval_score95": "interval score", "coverage95": "coverage"}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=Path, required=True, help="CSV file, gzipped or not")
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--peers", type=Path, help="Python with gpboost, numpy and scipy")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--kernel", default="matern12")
    parser.add_argument("--neighbors", type=int, default=30)
    parser.add_argument("--prediction-neighbors", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--extra", default="", help="more options for `train`, separated by blanks")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def unpacked(path: Path, folder: Path) -> Path:
    """The file itself, or its content in `folder` if it is gzipped."""
    if path.suffix != ".gz":
        return path
    copy = folder / path.stem
    with gzip.open(path, "rb") as packed, copy.open("wb") as plain:
        shutil.copyfileobj(packed, plain)
    return copy


def own(arguments: argparse.Namespace, train: Path, test: Path, folder: Path) -> dict:
    """Scores and seconds of our program."""
    out = folder / "run"
    command = [arguments.program, "train", "--model", "vecchia", "--kernel", arguments.kernel]
    command += ["--data", train, "--test", test, "--target", arguments.target, "--dtype", "f64"]
    command += ["--neighbors", arguments.neighbors, "--prediction-neighbors", arguments.prediction_neighbors]
    command += ["--threads", arguments.threads, "--out", out, "--overwrite", "--quiet", *arguments.extra.split()]
    began = time.monotonic()
    subprocess.run([str(word) for word in command], check=True)
    seconds = time.monotonic() - began
    metrics = json.loads((out / "metrics.json").read_text())
    scores = {key: metrics.get(f"{key}_original", metrics.get(key)) for key in SCORES}
    return {"program": "burn-gp", "seconds": seconds} | scores


def peer(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Scores and seconds of GPBoost."""
    command = [arguments.peers, FOLDER / "spatial_gpboost.py", "--train", train, "--test", test]
    command += ["--target", arguments.target, "--kernel", arguments.kernel, "--neighbors", arguments.neighbors]
    command += ["--prediction-neighbors", arguments.prediction_neighbors, "--threads", arguments.threads]
    return json_lines.run(command)[-1]


def main() -> None:
    arguments = parse_arguments()
    arguments.program = arguments.program or cargo_executable.build("bin", "burn-gp")
    runs: dict[str, list[dict]] = {}
    with tempfile.TemporaryDirectory() as created:
        folder = Path(created)
        train, test = (unpacked(path, folder) for path in (arguments.train, arguments.test))
        for number in range(arguments.rounds):
            results = [own(arguments, train, test, folder)]
            if arguments.peers:
                results.append(peer(arguments, train, test))
            for result in results:
                runs.setdefault(result["program"], []).append(result)
                print(f"round {number + 1}: {json.dumps(result)}", file=sys.stderr, flush=True)
    rows = []
    for program, results in runs.items():
        cells = [f"{results[0][key]:.4f}" for key in SCORES]
        rows.append([program, *cells, f"{statistics.median(result['seconds'] for result in results):.1f}"])
    print(text_table.render(["program", *SCORES.values(), "seconds"], rows))
    if arguments.out:
        arguments.out.write_text(json.dumps(runs, indent=1) + "\n")


if __name__ == "__main__":
    main()
