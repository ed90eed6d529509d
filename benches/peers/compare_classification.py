"""Trains the same classifiers with burn-gp and with GPflow; prints one table.

`banana` is a 10-fold cross-validation of the two-dimensional set of that name (probit Bernoulli,
Matern-5/2) in full batches, from the same inducing points. It meets the bar if our mean error is
within one standard error of GPflow's, or lower. `mnist` trains on the 60 000 digits and tests on
the 10 000 others (squared exponential with one lengthscale, 750 inducing points, batches of 200)
from the same inducing points and mini-batches; it meets the bar if our error is no higher, up to one
standard error of a share of the test rows, and our training no slower. The exit status is 1 if a row misses
its bar. This script itself needs a Python with requirements.txt, for numpy.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import cargo_executable
import images
import json_lines
import numpy as np
import text_table

FOLDS = 10
SCRIPT = Path(__file__).with_name("fit_classification.py")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", choices=["banana", "mnist"])
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of small/ and mnist/")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument(
        "--draws-program", type=Path, help="a built example training_draws; default: build it"
    )
    parser.add_argument("--likelihood", action="append", choices=["softmax", "robust-max"])
    parser.add_argument("--steps", type=int, help="default: 2000 for banana, 3000 for mnist")
    parser.add_argument("--inducing", type=int, help="default: 30 for banana, 750 for mnist")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def words(options: dict) -> list:
    """Options as a command line; an option that is True takes no value."""
    pairs = [[f"--{key}"] if value is True else [f"--{key}", value] for key, value in options.items()]
    return [word for pair in pairs for word in pair]


def run(command: list, threads: int) -> str:
    """Runs one of our programs and returns what it prints."""
    command = ["env", f"RAYON_NUM_THREADS={threads}", *command]
    finished = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    if finished.returncode != 0:
        raise SystemExit(f"{command[2]} failed with exit code {finished.returncode}")
    return finished.stdout


def own_fit(program: Path, options: dict, threads: int) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "fit"
        run([program, "train", *words(options), "--quiet", "--out", out], threads)
        metrics = json.loads((out / "metrics.json").read_text())
    keys = {"error": "error", "nlpd": "nlpd", "seconds": "train_seconds"}
    return {key: metrics[source] for key, source in keys.items()}


def peer_fit(parts: dict, options: dict, threads: int, draws: str | None = None) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data.npz"
        np.savez(data, **parts)
        if draws is not None:
            path = Path(folder) / "draws.json"
            path.write_text(draws)
            options = options | {"draws": path}
        command = [sys.executable, SCRIPT, "--data", data, "--threads", threads]
        return json_lines.run([*command, *words(options)])[0]


def draws_program(arguments) -> Path:
    built = arguments.draws_program
    return built or cargo_executable.build("example", "training_draws")


def banana(arguments, program: Path) -> list[dict]:
    drawing = draws_program(arguments)
    table = np.loadtxt(arguments.data_dir / "small/banana.csv", delimiter=",", skiprows=1)
    rows = len(table)
    folds = np.random.default_rng(0).permutation(rows) % FOLDS
    common = {
        "likelihood": "bernoulli",
        "kernel": "matern52",
        "inducing": arguments.inducing or 30,
        "steps": arguments.steps or 2000,
        "batch-size": rows,
        "learning-rate": 0.02,
    }
    own, peer = [], []
    with tempfile.TemporaryDirectory() as folder:
        # Has the layout of the collection, so that our program can be told which rows to test on.
        place = Path(folder) / "banana-folds"
        place.mkdir()
        np.savetxt(place / "data.csv.gz", table, delimiter=",", fmt="%.17g")
        mask = (folds[:, None] == np.arange(FOLDS)).astype(int)
        np.savetxt(place / "test_mask.csv.gz", mask, delimiter=",", fmt="%d")
        labels = (table[:, -1] == table[:, -1].max()).astype(int)
        for fold in range(FOLDS):
            print(f"banana, fold {fold} ...", file=sys.stderr)
            options = common | {"data": place.name, "data-dir": folder, "split": fold}
            options["schedule"] = "constant"
            own.append(own_fit(program, options, arguments.threads))
            draws = run([drawing, "train", *words(options)], arguments.threads)
            train, test = folds != fold, folds == fold
            mean, scale = table[train, :-1].mean(0), table[train, :-1].std(0)
            inputs = (table[:, :-1] - mean) / scale
            parts = {
                "x_train": inputs[train],
                "y_train": labels[train],
                "x_test": inputs[test],
                "y_test": labels[test],
            }
            peer.append(peer_fit(parts, common, arguments.threads, draws))
    error = statistics.stdev(fit["error"] for fit in peer) / FOLDS**0.5
    row = {"data": f"banana, {FOLDS} folds", "own": means(own), "peer": means(peer)}
    row["standard_error"] = error
    row["met"] = row["own"]["error"] <= row["peer"]["error"] + error
    return [row]


def means(fits: list[dict]) -> dict:
    return {key: statistics.mean(fit[key] for fit in fits) for key in ("error", "nlpd", "seconds")}


def mnist(arguments, program: Path) -> list[dict]:
    parts = vars(images.load(arguments.data_dir / "mnist", "float32"))
    rows, drawing = [], draws_program(arguments)
    for likelihood in arguments.likelihood or ["robust-max", "softmax"]:
        print(f"mnist, {likelihood} ...", file=sys.stderr)
        common = {
            "likelihood": likelihood,
            "kernel": "rbf",
            "isotropic": True,
            "inducing": arguments.inducing or 750,
            "steps": arguments.steps or 3000,
            "batch-size": 200,
            "learning-rate": 0.001,
        }
        own_options = common | {
            "data": "mnist",
            "data-dir": arguments.data_dir,
            "split": 0,
            "initializer": "subset",
            "schedule": "constant",
            "dtype": "f32",
            "set": "kernel.lengthscale=10",
        }
        own = own_fit(program, own_options, arguments.threads)
        draws = run([drawing, "train", *words(own_options)], arguments.threads)
        peer_options = common | {"dtype": "float32", "lengthscale": 10.0}
        peer = peer_fit(parts, peer_options, arguments.threads, draws)
        share, count = peer["error"], len(parts["y_test"])
        margin = (share * (1.0 - share) / count) ** 0.5
        met = own["error"] <= share + margin and own["seconds"] <= peer["seconds"]
        rows.append({"data": f"mnist, {likelihood}", "own": own, "peer": peer, "met": met})
    return rows


def main() -> None:
    arguments = parse_arguments()
    program = arguments.program or cargo_executable.build("bin", "burn-gp")
    rows = banana(arguments, program) if arguments.set == "banana" else mnist(arguments, program)
    if arguments.out:
        arguments.out.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    header = ["data", "error % ours", "GPflow", "NLPD ours", "GPflow", "s ours", "GPflow", "bar"]
    cells = []
    for row in rows:
        own, peer = row["own"], row["peer"]
        line = [row["data"], f"{100 * own['error']:.2f}", f"{100 * peer['error']:.2f}"]
        line += [f"{own['nlpd']:.4f}", f"{peer['nlpd']:.4f}"]
        line += [f"{own['seconds']:.1f}", f"{peer['seconds']:.1f}"]
        cells.append([*line, "met" if row["met"] else "missed"])
    print(text_table.render(header, cells))
    for row in rows:
        if "standard_error" in row:
            error = 100 * row["standard_error"]
            print(f"standard error of GPflow's error over the folds: {error:.2f} %")
    sys.exit(0 if all(row["met"] for row in rows) else 1)


if __name__ == "__main__":
    main()
