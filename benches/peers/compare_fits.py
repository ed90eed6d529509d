"""Fits the same models to the same data with burn-gp and with GPflow; prints one table.

Exact, SGPR and SVGP regression on splits in the `uci_datasets` layout, from the same initial
hyperparameters (lengthscales, variance and noise 1), with the same steps, batch size and learning
rate; the inducing points of both start at k-means++ centres. These and the mini-batches are random,
and the programs draw them differently: medians over the same number of seeds are compared. A row is
met if our RMSE is within 2 % and our NLPD within 0.02 of the peer's, or better. The exit status is
1 if a row is missed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import cargo_executable
import json_lines
import text_table

SETS = ["concrete", "energy", "housing", "yacht", "elevators"]
MODELS = {"exact": "gpr", "sgpr": "sgpr", "svgp": "svgp"}
TOO_LARGE_FOR_EXACT = ["elevators"]
RMSE_FACTOR = 1.02
NLPD_MARGIN = 0.02
INITIAL_NOISE = 1.0
FIT_SCRIPT = Path(__file__).resolve().parent / "fit_regression.py"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--peers", help="Python with requirements.txt, for GPflow")
    parser.add_argument(
        "--reuse", type=Path, action="append", default=[], help="JSON file with earlier peer fits"
    )
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--name", action="append", choices=SETS, help="default: all")
    parser.add_argument("--model", action="append", choices=list(MODELS), help="default: all")
    parser.add_argument("--split", type=int, default=0)
    parser.add_argument("--kernel", default="matern52")
    parser.add_argument("--inducing", type=int, default=100)
    parser.add_argument("--steps", type=int, default=1000, help="Adam steps or L-BFGS iterations")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument(
        "--jitter",
        type=float,
        default=1e-8,
        help="ours, relative to the kernel's variance; GPflow's is absolute, 1e-6, and costs less "
        "of the bound when the variance grows",
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def settings(arguments, model: str, name: str, seed: int) -> dict:
    """What a peer's fit must have been made with, as `fit_regression.py` reports it."""
    wanted = {
        "model": MODELS[model],
        "name": name,
        "split": arguments.split,
        "kernel": arguments.kernel,
        "isotropic": False,
        "inducing": None if model == "exact" else arguments.inducing,
        "dtype": "float64",
        "steps": arguments.steps,
        "initial_noise_variance": INITIAL_NOISE,
    }
    if model != "exact":
        wanted["seed"] = seed
    if model == "svgp":
        wanted |= {"batch_size": arguments.batch_size, "learning_rate": arguments.learning_rate}
    return wanted


def matches(line: dict, wanted: dict) -> bool:
    """Whether an earlier fit has these settings, as far as it tells."""
    agrees = all(line.get(key, value) == value for key, value in wanted.items())
    if wanted["model"] == "svgp":
        return agrees and line["iterations"] == wanted["steps"]
    return agrees and (line["converged"] or line["iterations"] >= wanted["steps"])


def peer_fit(arguments, earlier: list[dict], model: str, name: str, seed: int) -> dict:
    wanted = settings(arguments, model, name, seed)
    for line in earlier:
        if matches(line, wanted):
            return line
    if not arguments.peers:
        raise SystemExit(
            f"no earlier fit of {model} to {name} with seed {seed} and these settings; give --peers"
        )
    options = {
        "model": MODELS[model],
        "data-dir": arguments.data_dir,
        "name": name,
        "split": arguments.split,
        "kernel": arguments.kernel,
        "inducing": arguments.inducing,
        "steps": arguments.steps,
        "batch-size": arguments.batch_size,
        "learning-rate": arguments.learning_rate,
        "noise-variance": INITIAL_NOISE,
        "seed": seed,
        "threads": arguments.threads,
    }
    words = [word for key, value in options.items() for word in (f"--{key}", value)]
    return json_lines.run([arguments.peers, FIT_SCRIPT, *words])[0]


def own_fit(arguments, program: Path, model: str, name: str, seed: int) -> dict:
    options = {
        "model": model,
        "data": name,
        "data-dir": arguments.data_dir,
        "split": arguments.split,
        "kernel": arguments.kernel,
        "steps": arguments.steps,
        "noise": INITIAL_NOISE,
        "seed": seed,
        "dtype": "f64",
    }
    if model != "exact":
        options |= {"inducing": arguments.inducing, "jitter": arguments.jitter}
    if model == "svgp":
        options["batch-size"] = arguments.batch_size
        options["learning-rate"] = arguments.learning_rate
        options["schedule"] = "constant"
    words = [str(word) for key, value in options.items() for word in (f"--{key}", value)]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(arguments.threads)}
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "fit"
        command = [str(program), "train", *words, "--quiet", "--out", str(out)]
        finished = subprocess.run(command, env=environment, capture_output=True, text=True)
        if finished.returncode != 0:
            sys.stderr.write(finished.stderr)
            raise SystemExit(f"`{' '.join(command)}` ended with {finished.returncode}")
        return json.loads((out / "metrics.json").read_text())


def medians(fits: list[dict], seconds: str) -> dict:
    """The medians of the scores over the seeds."""
    keys = {"rmse": "rmse", "nlpd": "nlpd", "objective": "objective", "seconds": seconds}
    return {key: statistics.median(fit[source] for fit in fits) for key, source in keys.items()}


def compare(arguments, program: Path, earlier: list[dict], model: str, name: str) -> dict:
    # Nothing is random in an exact fit.
    seeds = arguments.seeds[:1] if model == "exact" else arguments.seeds
    own_fits = [own_fit(arguments, program, model, name, seed) for seed in seeds]
    peer_fits = [peer_fit(arguments, earlier, model, name, seed) for seed in seeds]
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
    program = arguments.program or cargo_executable.build("burn-gp-experiments", "bin", "burn-gp")
    rows = []
    for name in arguments.name or SETS:
        for model in arguments.model or MODELS:
            if model == "exact" and name in TOO_LARGE_FOR_EXACT:
                continue
            print(f"{name}, {model} ...", file=sys.stderr)
            rows.append(compare(arguments, program, earlier, model, name))
            # After every row, so that --reuse can take what an interrupted comparison has measured.
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
