"""Compares nearest-neighbor models with GPBoost's Vecchia approximation on one table; prints one table of scores.

Both read the same files, fit the same kernel with the same number of neighbors, and predict the test rows. Our model is
`vecchia`, and `vecchia-laplace` for the gamma likelihood. GPBoost's kernel has one lengthscale. So has ours on the
sphere, where both measure distances along straight lines through the Earth; elsewhere it has one for each input, which
is standardized. `--extra` changes ours. Each program is a process of its own, in turns. Seconds are medians over the
rounds: ours those of the whole process, GPBoost's those of reading, fit and predictions without imports.

Scores are in the units of the table, also with `--transform log`. With the gamma likelihood, GPBoost's ranked
probability score, interval score and coverage are those of 1000 draws of each row.
"""

import argparse
import gzip
import json
import math
import random
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
SCORES = {
    "rmse": "RMSE",
    "mae": "MAE",
    "nlpd": "NLPD",
    "crps": "CRPS",
    "interval_score95": "interval score",
    "coverage95": "coverage",
}
MODELS = {"gaussian": "vecchia", "gamma": "vecchia-laplace"}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=Path, required=True, help="CSV file, gzipped or not")
    parser.add_argument("--test", type=Path, required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("--peers", type=Path, help="Python with gpboost, numpy and scipy")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--sphere", nargs=2, metavar=("LON", "LAT"), help="columns of degrees on the sphere")
    parser.add_argument("--kernel", default="matern12")
    parser.add_argument("--likelihood", choices=MODELS, default="gaussian")
    parser.add_argument("--transform", choices=["log"], help="of the target, with Gaussian noise")
    parser.add_argument("--rows", type=int, help="random training rows, for both programs (default: all)")
    parser.add_argument("--test-rows", type=int, help="random test rows, for both programs (default: all)")
    parser.add_argument("--neighbors", type=int, default=30)
    parser.add_argument("--prediction-neighbors", type=int, default=60)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--extra", default="", help="more options for `train`, separated by blanks")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    if arguments.transform and arguments.likelihood != "gaussian":
        parser.error("--transform is for Gaussian noise")
    return arguments


def unpacked(path: Path, folder: Path, part: str, rows: int | None) -> Path:
    """The file itself, or its content in `folder` if it is gzipped or only some of its rows are asked for."""
    if path.suffix != ".gz" and rows is None:
        return path
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt") as file:
        header, *lines = file.read().splitlines()
    if rows is not None and rows < len(lines):
        kept = sorted(random.Random(part).sample(range(len(lines)), rows))
        lines = [lines[row] for row in kept]
    copy = folder / f"{part}.csv"
    copy.write_text("\n".join([header, *lines, ""]))
    return copy


def own(arguments: argparse.Namespace, train: Path, test: Path, folder: Path) -> dict:
    """Scores and seconds of our program."""
    out = folder / "run"
    command = [arguments.program, "train", "--model", MODELS[arguments.likelihood], "--kernel", arguments.kernel]
    command += ["--likelihood", arguments.likelihood]
    command += ["--data", train, "--test", test, "--target", arguments.target, "--dtype", "f64"]
    command += ["--neighbors", arguments.neighbors, "--prediction-neighbors", arguments.prediction_neighbors]
    if arguments.sphere:
        kinds = zip(arguments.sphere, ("longitude", "latitude"), strict=True)
        command += [word for name, kind in kinds for word in ("--kind", f"{name}={kind}")]
    if arguments.transform:
        command += ["--transform", f"{arguments.target}={arguments.transform}"]
    command += ["--threads", arguments.threads, "--out", out, "--overwrite", "--quiet", *arguments.extra.split()]
    began = time.monotonic()
    subprocess.run([str(word) for word in command], check=True)
    seconds = time.monotonic() - began
    metrics = json.loads((out / "metrics.json").read_text())
    scores = {key: metrics.get(f"{key}_original", metrics.get(key)) for key in SCORES}
    # The density of y is that of y in standard deviations, divided by one of them.
    scores["nlpd"] = metrics["nlpd"] + math.log(metrics["rmse_original"] / metrics["rmse"])
    return {"program": "burn-gp", "seconds": seconds} | scores


def peer(arguments: argparse.Namespace, train: Path, test: Path) -> dict:
    """Scores and seconds of GPBoost."""
    command = [arguments.peers, FOLDER / "spatial_gpboost.py", "--train", train, "--test", test]
    command += ["--target", arguments.target, "--kernel", arguments.kernel, "--neighbors", arguments.neighbors]
    command += ["--likelihood", arguments.likelihood]
    command += ["--sphere", *arguments.sphere] if arguments.sphere else []
    command += ["--transform", arguments.transform] if arguments.transform else []
    command += ["--prediction-neighbors", arguments.prediction_neighbors, "--threads", arguments.threads]
    return json_lines.run(command)[-1]


def main() -> None:
    arguments = parse_arguments()
    arguments.program = arguments.program or cargo_executable.build("bin", "burn-gp")
    runs: dict[str, list[dict]] = {}
    with tempfile.TemporaryDirectory() as created:
        folder = Path(created)
        train = unpacked(arguments.train, folder, "train", arguments.rows)
        test = unpacked(arguments.test, folder, "test", arguments.test_rows)
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
