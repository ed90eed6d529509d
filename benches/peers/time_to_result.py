"""Seconds from the start of a process to a good model, by burn-gp, GPflow and GPyTorch; one table.

Each program trains an SVGP with as many inducing points on the collection's own split: ours with
natural gradients, a rate of Adam of `--own-rate`, the default schedule and the starts of GPflow; the peers
by their recommended recipes (`svgp_curve.py`); and ours once more with nothing given but the data (`auto`).
Our rate and starts were chosen on split 0 of wine, elevators, kin40k and protein: scores of these sets are
not blind. The test rows are scored in the course of training, and the time of scoring is left out.

The mark is the lowest NLPD that any of the programs with this number of inducing points ends with, plus
`--margin`. A program that ends above it has no time. The start of the process counts: imports, compilation,
reading, k-means.

Our seconds are those of a whole run of one step, and the seconds of training to the mark.
"""

import argparse
import csv
import json
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
SETS = ["wine", "elevators", "kin40k", "protein"]
PEERS = ["gpflow", "gpytorch"]
# GPflow's, from which all of its parameters start.
STARTS = ["--set", "kernel.lengthscale=1", "--noise", 1]


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the sets")
    parser.add_argument("--peers", required=True, help="Python with requirements.txt")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--name", action="append", help=f"default: {', '.join(SETS)}")
    parser.add_argument("--inducing", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--own-rate", type=float, default=0.03, help="Adam's rate of ours")
    parser.add_argument("--margin", type=float, default=0.01)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def train(arguments, program: Path, name: str, seed: int, options: list, out: Path) -> float:
    """Trains our program; returns the seconds of the process."""
    command = [program, "train", "--data", name, "--data-dir", arguments.data_dir, "--split", 0]
    command += ["--seed", seed, "--threads", arguments.threads, "--quiet", "--out", out, *options]
    start = time.time()
    finished = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if finished.returncode != 0:
        sys.stderr.write(finished.stderr)
        raise SystemExit(f"burn-gp ended with {finished.returncode}")
    return time.time() - start


def own_curve(arguments, program: Path, name: str, seed: int, options: list, every: list) -> list[dict]:
    """Seconds and scores of a run of ours."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        first = train(arguments, program, name, seed, [*options, "--steps", 1], out.with_name("one"))
        train(arguments, program, name, seed, [*options, *every], out)
        with (out / "learning_curve.csv").open() as file:
            rows = list(csv.DictReader(file))
    return [{"seconds": first + float(row["seconds"]), "nlpd": float(row["nlpd"])} for row in rows]


def auto_curve(arguments, program: Path, name: str, seed: int) -> list[dict]:
    """One point: a whole process of ours with nothing given but the data."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        seconds = train(arguments, program, name, seed, [], out)
        metrics = json.loads((out / "metrics.json").read_text())
    return [{"seconds": seconds, "nlpd": metrics["nlpd"]}]


def peer_curve(arguments, peer: str, name: str, seed: int) -> list[dict]:
    options = {
        "data-dir": arguments.data_dir,
        "name": name,
        "inducing": arguments.inducing,
        "batch-size": arguments.batch_size,
        "steps": arguments.steps,
        "seed": seed,
        "threads": arguments.threads,
        "started": time.time(),
    }
    words = [word for key, value in options.items() for word in (f"--{key}", value)]
    return json_lines.run([arguments.peers, FOLDER / "svgp_curve.py", peer, *words])


def reached(curve: list[dict], mark: float) -> float | None:
    """The seconds at which a curve is at the mark for the first time."""
    return next((point["seconds"] for point in curve if point["nlpd"] <= mark), None)


def curves(arguments, program: Path, name: str, seed: int) -> dict[str, list[dict]]:
    svgp = ["--model", "svgp", "--inducing", arguments.inducing, "--batch-size", arguments.batch_size]
    svgp += ["--natural-gradient", 0.1, "--learning-rate", arguments.own_rate, *STARTS]
    svgp += ["--dtype", "f32"]
    every = ["--steps", arguments.steps, "--score-every", 50]
    return {
        "ours, svgp": own_curve(arguments, program, name, seed, svgp, every),
        **{peer: peer_curve(arguments, peer, name, seed) for peer in PEERS},
        "ours, auto": auto_curve(arguments, program, name, seed),
    }


def main() -> None:
    arguments = parse_arguments()
    program = arguments.program or cargo_executable.build("burn-gp-cli", "bin", "burn-gp")
    rows, table = [], []
    for name in arguments.name or SETS:
        times: dict[str, list] = {}
        ends: dict[str, list] = {}
        marks = []
        for seed in arguments.seeds:
            made = curves(arguments, program, name, seed)
            equal = [curve for program_name, curve in made.items() if program_name != "ours, auto"]
            mark = min(curve[-1]["nlpd"] for curve in equal) + arguments.margin
            marks.append(mark)
            for program_name, curve in made.items():
                times.setdefault(program_name, []).append(reached(curve, mark))
                ends.setdefault(program_name, []).append(curve[-1]["nlpd"])
            rows.append({"name": name, "seed": seed, "mark": mark, "curves": made})
        medians = {
            key: None if None in values else statistics.median(values) for key, values in times.items()
        }
        best = min((medians[peer] for peer in PEERS if medians[peer] is not None), default=None)
        cells = [name, f"{statistics.median(marks):.3f}"]
        for key, seconds in medians.items():
            end = statistics.median(ends[key])
            cells.append(f"{'-' if seconds is None else f'{seconds:.1f}'} ({end:.3f})")
        ours = min((medians[key] for key in medians if key.startswith("ours") and medians[key]), default=None)
        cells.append("-" if best is None or ours is None else f"{best / ours:.1f}x")
        header = ["set", "mark", *medians, "best peer / ours"]
        table.append(cells)
        print(text_table.render(header, [cells]), flush=True)
    print()
    print("seconds to the mark (NLPD at the end)")
    print(text_table.render(header, table))
    if arguments.out:
        arguments.out.write_text(json.dumps({"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
