"""Compares our deep GPs on kin40k with GPyTorch's; prints one table by depth.

Takes the folder of `burn-gp experiment deep-kin40k`: the scores in its `results.json` and the options of
every run in `runs/depth-L/POSTERIOR/seed-K/config.toml`. Runs `deep_kin40k.py` with the same numbers of
layers, inducing points, batch size, steps, learning rate, seeds and float type. For every seed GPyTorch
trains on the rows that ours trained on, starts from our first inducing points and is tested on the
other rows, which the example `training_draws` prints. Scores are means over the seeds. `-log density` is the
mean over rows and draws of negative log densities, as in the paper; NLPD is the same for the draws' mixture.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import cargo_executable
import fit_regression
import json_lines
import text_table

TITLES = {"whitened": "W-SVGP", "l-svgp": "L-SVGP", "inverse-free": "R-SVGP"}
DTYPES = {"f32": "float32", "f64": "float64"}
PEER_SCRIPT = Path(__file__).resolve().parent / "deep_kin40k.py"
# The options that determine the training rows, first inducing points and first mini-batch of our runs.
DRAWN_BY = ["model", "layers", "width", "data", "test_fraction", "kernel", "inducing", "initializer"]
DRAWN_BY += ["batch_size", "seed", "dtype"]


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
    parser.add_argument("--depth", type=int, action="append", help="default: as in our runs")
    parser.add_argument("--seeds", type=int, nargs="+", help="default: as in our runs")
    parser.add_argument("--samples", type=int, default=100, help="draws per prediction")
    parser.add_argument(
        "--separate", action="store_true", help="a kernel and inducing points for every function"
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def own_runs(arguments) -> list[dict]:
    """Our selected runs: the scores, depth, posterior and options of each."""
    runs = []
    for cell in json.loads((arguments.own / "results.json").read_text())["cells"]:
        depth, posterior = int(cell["depth"]), cell["posterior"]
        folder = arguments.own / "runs" / f"depth-{depth}" / posterior
        for scores in cell["runs"]:
            is_wanted = (arguments.depth is None or depth in arguments.depth) and (
                arguments.seeds is None or scores["seed"] in arguments.seeds
            )
            if is_wanted:
                config = options_of(folder / f"seed-{scores['seed']}")
                # Without hidden layers there is one density per row.
                density = {"average_log_density": -scores["nlpd"]}
                named = {"depth": depth, "posterior": posterior, "options": config}
                runs.append(density | scores | named)
    if not runs:
        raise SystemExit(f"{arguments.own} has no finished run of these depths and seeds")
    return runs


def options_of(run: Path) -> dict:
    """The options of one of our runs, by name."""
    sections = tomllib.loads((run / "config.toml").read_text()).values()
    return {name: value for section in sections for name, value in section.items()}


def own_draws(arguments, program: Path, run: dict, path: Path) -> None:
    """Writes the training rows and first inducing points of one of our runs.

    Only the first mini-batch is ours, the others are GPyTorch's own: those of all steps would fill gigabytes.
    """
    options = {name: run["options"][name] for name in DRAWN_BY if name in run["options"]}
    options |= {"data_dir": arguments.data_dir, "steps": 1}
    words = [str(word) for key, value in options.items() for word in (f"--{key.replace('_', '-')}", value)]
    command = [str(program), "train", *words]
    environment = {**os.environ, "RAYON_NUM_THREADS": str(arguments.threads)}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.stderr.write(finished.stderr)
        raise SystemExit(f"`{' '.join(command)}` failed with exit code {finished.returncode}")
    path.write_text(finished.stdout)


def peer_fit(arguments, earlier: list[dict], run: dict, draws: Path) -> dict:
    own = run["options"]
    wanted = {"depth": run["depth"], "seed": run["seed"], "dtype": DTYPES[own["dtype"]]}
    # A single layer keeps its learning rate and has no plateau.
    names = ("inducing", "batch_size", "steps", "learning_rate", "plateau")
    wanted |= {name: own[name] for name in names if name in own}
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
    """The table: our runs by posterior and GPyTorch's, depth by depth."""
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
    own = own_runs(arguments)
    program = arguments.draws_program or cargo_executable.build("example", "training_draws")
    peer = []
    # All posteriors of a depth and seed have the same rows and first inducing points.
    first = {(run["seed"], run["depth"]): run for run in reversed(own)}
    for (seed, depth), run in sorted(first.items()):
        print(f"depth {depth}, seed {seed} ...", file=sys.stderr)
        with tempfile.TemporaryDirectory() as folder:
            draws = Path(folder) / "draws.json"
            own_draws(arguments, program.resolve(), run, draws)
            peer.append(peer_fit(arguments, earlier, run, draws))
        # Written after every fit, so that --reuse can take the fits of an interrupted comparison.
        if arguments.out:
            record = {"own_fits": own, "peer_fits": peer}
            arguments.out.write_text(json.dumps(record, indent=2) + "\n")
    print(table(own, peer))


if __name__ == "__main__":
    main()
