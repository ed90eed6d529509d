"""Compares our deep GPs on kin40k with GPyTorch's; prints one table by depth.

Takes the folder of `burn-gp experiment deep-kin40k` and runs `deep_kin40k.py` with the same numbers of
layers, inducing points, batch size, steps, learning rate, seeds and float type. For every seed GPyTorch
trains on the rows that ours trained on, starts from our first inducing points and is tested on the
other rows: the example `training_draws` says which. Means over the seeds; `-log density` is the mean
over rows and draws of negative log densities, as in the paper, NLPD that of the draws' mixture.
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
import fit_regression
import json_lines
import text_table

EXPERIMENT = "deep-kin40k"
DATA = "kin40k"
TITLES = {"whitened": "W-SVGP", "l-svgp": "L-SVGP", "inverse-free": "R-SVGP"}
DTYPES = {"f32": "float32", "f64": "float64"}
PEER_SCRIPT = Path(__file__).resolve().parent / "deep_kin40k.py"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--own", type=Path, required=True, help="folder of our experiment")
    parser.add_argument("--data-dir", type=Path, required=True, help="folder that holds kin40k/")
    parser.add_argument("--peers", help="Python with requirements.txt, for GPyTorch")
    parser.add_argument(
        "--reuse", type=Path, action="append", default=[], help="JSON file with earlier peer fits"
    )
    parser.add_argument(
        "--draws-program", type=Path, help="a built example training_draws; default: build it"
    )
    parser.add_argument("--depth", type=int, action="append", help="default: those of ours")
    parser.add_argument("--seeds", type=int, nargs="+", help="default: those of ours")
    parser.add_argument("--samples", type=int, default=100, help="draws for a prediction")
    parser.add_argument(
        "--separate", action="store_true", help="a kernel and inducing points for every function"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def own_runs(arguments) -> tuple[list[dict], dict]:
    """Our runs that are wanted, and the settings of the experiment."""
    runs = json.loads((arguments.own / f"{EXPERIMENT}.json").read_text())["runs"]
    settings = json.loads((arguments.own / "experiment.json").read_text())["settings"]
    depths, seeds = arguments.depth, arguments.seeds
    chosen = [
        run
        for run in runs
        if (depths is None or run["depth"] in depths) and (seeds is None or run["seed"] in seeds)
    ]
    if not chosen:
        raise SystemExit(f"{arguments.own} has no finished run of these depths and seeds")
    return chosen, settings


def own_draws(arguments, program: Path, settings: dict, run: dict, path: Path) -> None:
    """Writes the training rows and first inducing points of a run of ours.

    Mini-batches are GPyTorch's own, but for the first: those of all steps would fill gigabytes.
    """
    protocol = settings["protocol"]
    options = {
        "model": "deep-gp",
        "layers": run["depth"],
        "data": DATA,
        "data-dir": arguments.data_dir,
        "test-fraction": 0.1,
        "kernel": "rbf",
        "inducing": protocol["inducing"],
        "initializer": "k-means",
        "batch-size": protocol["batch_size"],
        "steps": 1,
        "seed": run["seed"],
        "dtype": settings["dtype"],
    }
    if run["depth"] > 1:
        options["width"] = protocol["width"]
    words = [str(word) for key, value in options.items() for word in (f"--{key}", value)]
    command = [str(program), "train", *words]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(arguments.threads)}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.stderr.write(finished.stderr)
        raise SystemExit(f"`{' '.join(command)}` ended with {finished.returncode}")
    path.write_text(finished.stdout)


def peer_fit(arguments, earlier: list[dict], run: dict, settings: dict, draws: Path) -> dict:
    protocol = settings["protocol"]
    wanted = {
        "depth": run["depth"],
        "inducing": protocol["inducing"],
        "batch_size": protocol["batch_size"],
        "steps": protocol["steps"],
        "learning_rate": protocol["learning_rate"],
        "plateau": protocol["plateau"],
        "seed": run["seed"],
        "dtype": DTYPES[settings["dtype"]],
    }
    made_with = {
        **wanted,
        "program": "gpytorch, separate kernels" if arguments.separate else "gpytorch",
        "samples": arguments.samples if run["depth"] > 1 else 1,
        "draws": fit_regression.digest(draws),
    }
    for fit in earlier:
        if all(fit.get(key) == value for key, value in made_with.items()):
            return fit
    if not arguments.peers:
        raise SystemExit(f"no earlier fit of GPyTorch with {made_with}; give --peers")
    options = {**wanted, "data-dir": arguments.data_dir, "draws": draws}
    options |= {"samples": arguments.samples, "threads": arguments.threads}
    words = [arguments.peers, PEER_SCRIPT]
    for key, value in options.items():
        words += [f"--{key.replace('_', '-')}", value]
    return json_lines.run([*words, *(["--separate"] if arguments.separate else [])])[0]


def means(fits: list[dict]) -> dict:
    keys = ("nlpd", "average_log_density", "rmse", "train_seconds")
    return {key: statistics.mean(fit[key] for fit in fits) for key in keys}


def row(depth: int, title: str, fits: list[dict]) -> list[str]:
    mean = means(fits)
    scores = [-mean["average_log_density"], mean["nlpd"], mean["rmse"]]
    line = [f"{depth}, {title}", *(f"{score:.3f}" for score in scores)]
    milliseconds = 1e3 * mean["train_seconds"] / fits[0]["steps"]
    return [*line, f"{mean['train_seconds']:.0f}", f"{milliseconds:.1f}", str(len(fits))]


def table(own: list[dict], peer: list[dict]) -> str:
    """Ours by posterior and GPyTorch's, depth by depth."""
    header = ["layers, posterior", "-log density", "NLPD", "RMSE"]
    header += ["seconds", "ms a step", "seeds"]
    lines = []
    for depth in sorted({run["depth"] for run in own}):
        of_depth = [run for run in own if run["depth"] == depth]
        for posterior in dict.fromkeys(run["posterior"] for run in of_depth):
            fits = [run for run in of_depth if run["posterior"] == posterior]
            lines.append(row(depth, f"ours, {TITLES.get(posterior, posterior)}", fits))
        fits = [fit for fit in peer if fit["depth"] == depth]
        lines.append(row(depth, "GPyTorch, W-SVGP", fits))
    return text_table.render(header, lines)


def main() -> None:
    arguments = parse_arguments()
    earlier = [
        fit
        for path in arguments.reuse
        for line in json_lines.read(path)
        for fit in line.get("peer_fits", [line])
    ]
    own, settings = own_runs(arguments)
    program = arguments.draws_program or cargo_executable.build("example", "training_draws")
    peer = []
    for seed, depth in sorted({(run["seed"], run["depth"]) for run in own}):
        print(f"depth {depth}, seed {seed} ...", file=sys.stderr)
        run = {"depth": depth, "seed": seed}
        with tempfile.TemporaryDirectory() as folder:
            draws = Path(folder) / "draws.json"
            own_draws(arguments, program.resolve(), settings, run, draws)
            peer.append(peer_fit(arguments, earlier, run, settings, draws))
        # After every fit, so that --reuse can take what an interrupted comparison has made.
        if arguments.out:
            record = {"settings": settings, "own_fits": own, "peer_fits": peer}
            arguments.out.write_text(json.dumps(record, indent=2) + "\n")
    print(table(own, peer))


if __name__ == "__main__":
    main()
