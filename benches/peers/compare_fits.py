"""Fits the same models to the same data with burn-gp and with GPflow; prints one table.

Exact, SGPR and SVGP regression on splits in the `uci_datasets` layout, from the same initial
hyperparameters (lengthscales, variance and noise 1), with the same steps, batch size and learning
rate. Inducing points start at k-means++ centers. These and the mini-batches are random, and on a
small set chance alone changes a score by more than the bar. For every seed, GPflow therefore starts
from the points and sees the mini-batches that our program draws. Medians over the seeds are compared.
A row meets the bar if our RMSE is within 2 % and our NLPD within 0.02 of the peer's, or better. The exit
status is 1 if a row misses it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import cargo_executable
import fit_regression
import json_lines
import text_table

SETS = ["concrete", "energy", "housing", "yacht", "elevators"]
MODELS = {"exact": "gpr", "sgpr": "sgpr", "svgp": "svgp"}
TOO_LARGE_FOR_EXACT = ["elevators"]
RMSE_FACTOR = 1.02
NLPD_MARGIN = 0.02
INITIAL_NOISE = 1.0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--peers", help="Python with requirements.txt, for GPflow")
    parser.add_argument(
        "--reuse", type=Path, action="append", default=[], help="JSON file with earlier peer fits"
    )
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument(
        "--draws-program", type=Path, help="a built example training_draws; default: build it"
    )
    parser.add_argument("--name", action="append", choices=SETS, help="default: all")
    parser.add_argument("--model", action="append", choices=list(MODELS), help="default: all")
    parser.add_argument("--split", type=int, default=0)
    parser.add_argument("--kernel", default="matern52")
    parser.add_argument("--inducing", type=int, default=100)
    parser.add_argument("--steps", type=int, default=1000, help="Adam steps or L-BFGS iterations")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


@dataclass(frozen=True)
class Fit:
    """One fit, made by both programs."""

    model: str
    name: str
    seed: int


def own_options(arguments, fit: Fit) -> list[str]:
    """The options of our program."""
    options = {
        "model": fit.model,
        "data": fit.name,
        "data-dir": arguments.data_dir,
        "split": arguments.split,
        "kernel": arguments.kernel,
        "steps": arguments.steps,
        "noise": INITIAL_NOISE,
        "seed": fit.seed,
        "dtype": "f64",
    }
    if fit.model != "exact":
        options["inducing"] = arguments.inducing
    if fit.model == "svgp":
        options["batch-size"] = arguments.batch_size
        options["learning-rate"] = arguments.learning_rate
        options["schedule"] = "constant"
    return [str(word) for key, value in options.items() for word in (f"--{key}", value)]


def run(command: list, threads: int) -> str:
    """Runs one of our programs and returns what it prints."""
    words = [str(word) for word in command]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(threads)}
    finished = subprocess.run(words, env=environment, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.stderr.write(finished.stderr)
        raise SystemExit(f"`{' '.join(words)}` failed with exit code {finished.returncode}")
    return finished.stdout


def own_fit(arguments, program: Path, fit: Fit, folder: Path) -> dict:
    out = folder / "fit"
    options = own_options(arguments, fit)
    run([program, "train", *options, "--quiet", "--out", out], arguments.threads)
    return json.loads((out / "metrics.json").read_text())


def own_draws(arguments, program: Path, fit: Fit, folder: Path) -> Path | None:
    """Writes a file of the inducing points and mini-batches of our fit."""
    if fit.model == "exact":
        return None
    path = folder / "draws.json"
    path.write_text(run([program, "train", *own_options(arguments, fit)], arguments.threads))
    return path


def wanted(arguments, fit: Fit, draws: Path | None) -> dict:
    """The settings that a peer's fit must have, as `fit_regression.py` reports them."""
    settings = {
        "model": MODELS[fit.model],
        "name": fit.name,
        "split": arguments.split,
        "kernel": arguments.kernel,
        "isotropic": False,
        "draws": fit_regression.digest(draws),
        "dtype": "float64",
        "steps": arguments.steps,
        "initial_noise_variance": INITIAL_NOISE,
    }
    if fit.model != "exact":
        settings["inducing"] = arguments.inducing
    if fit.model == "svgp":
        settings |= {"batch_size": arguments.batch_size, "learning_rate": arguments.learning_rate}
    return settings


def peer_fit(arguments, earlier: list[dict], fit: Fit, draws: Path | None) -> dict:
    settings = wanted(arguments, fit, draws)
    for line in earlier:
        if all(line.get(key) == value for key, value in settings.items()):
            return line
    if not arguments.peers:
        raise SystemExit(f"no earlier fit of the peer for {fit} with these settings; give --peers")
    options = {
        "model": MODELS[fit.model],
        "data-dir": arguments.data_dir,
        "name": fit.name,
        "split": arguments.split,
        "kernel": arguments.kernel,
        "inducing": arguments.inducing,
        "steps": arguments.steps,
        "batch-size": arguments.batch_size,
        "learning-rate": arguments.learning_rate,
        "noise-variance": INITIAL_NOISE,
        "seed": fit.seed,
        "threads": arguments.threads,
    }
    if draws is not None:
        options["draws"] = draws
    words = [word for key, value in options.items() for word in (f"--{key}", value)]
    return json_lines.run([arguments.peers, fit_regression.__file__, *words])[0]


def medians(fits: list[dict], seconds: str) -> dict:
    """The medians of the scores over the seeds."""
    keys = {"rmse": "rmse", "nlpd": "nlpd", "objective": "objective", "seconds": seconds}
    return {key: statistics.median(fit[source] for fit in fits) for key, source in keys.items()}


def compare(arguments, programs, earlier: list[dict], model: str, name: str) -> dict:
    # Nothing is random in an exact fit.
    seeds = arguments.seeds[:1] if model == "exact" else arguments.seeds
    own_fits, peer_fits = [], []
    for seed in seeds:
        fit = Fit(model, name, seed)
        with tempfile.TemporaryDirectory() as folder:
            own_fits.append(own_fit(arguments, programs["train"], fit, Path(folder)))
            draws = own_draws(arguments, programs["draws"], fit, Path(folder))
            peer_fits.append(peer_fit(arguments, earlier, fit, draws))
    own, peer = medians(own_fits, "train_seconds"), medians(peer_fits, "seconds")
    met = (
        own["rmse"] <= RMSE_FACTOR * peer["rmse"] and own["nlpd"] <= peer["nlpd"] + NLPD_MARGIN
    )
    return {
        "data": name,
        "model": model,
        "seeds": seeds,
        "met": met,
        "own": own,
        "peer": peer,
        "own_fits": own_fits,
        "peer_fits": peer_fits,
    }


def table(rows: list[dict]) -> str:
    measures = {"rmse": "RMSE", "nlpd": "NLPD", "objective": "loss"}
    header = ["data, model"]
    for title in measures.values():
        header += [f"{title} ours", "GPflow"]
    header += ["s ours", "GPflow", "bar"]
    cells = []
    for row in rows:
        own, peer = row["own"], row["peer"]
        line = [f"{row['data']}, {row['model']}"]
        for key in measures:
            line += [f"{own[key]:.4f}", f"{peer[key]:.4f}"]
        line += [f"{own['seconds']:.1f}", f"{peer['seconds']:.1f}"]
        cells.append([*line, "met" if row["met"] else "missed"])
    return text_table.render(header, cells)


def main() -> None:
    arguments = parse_arguments()
    earlier = [
        fit
        for path in arguments.reuse
        for line in json_lines.read(path)
        for fit in line.get("peer_fits", [line])
    ]
    build = cargo_executable.build
    programs = {
        "train": arguments.program or build("bin", "burn-gp"),
        "draws": arguments.draws_program or build("example", "training_draws"),
    }
    rows = []
    for name in arguments.name or SETS:
        for model in arguments.model or MODELS:
            if model == "exact" and name in TOO_LARGE_FOR_EXACT:
                continue
            print(f"{name}, {model} ...", file=sys.stderr)
            rows.append(compare(arguments, programs, earlier, model, name))
            # Written after every row, so that --reuse can take the fits of an interrupted comparison.
            if arguments.out:
                arguments.out.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    print(table(rows))
    print(
        f"bar: RMSE at most {RMSE_FACTOR:g} times GPflow's and NLPD at most {NLPD_MARGIN:g} above "
        "it; loss: negative log evidence or bound per training row"
    )
    sys.exit(0 if all(row["met"] for row in rows) else 1)


if __name__ == "__main__":
    main()
