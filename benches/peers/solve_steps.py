"""Times training steps with two sets of inducing points, ours and the peers'; prints one table.

With M+M inducing points: our SOLVE-GP and ODVGP and GPyTorch's orthogonally decoupled strategy (which
is ODVGP); with 2M in one set: our SVGP and GPflow's. All are whitened, Matern-3/2 with one lengthscale,
Gaussian likelihood, batches of 1024, single precision, all parameters trained. No peer has SOLVE-GP:
`best peer / SOLVE` is the time of the faster peer divided by ours. The programs take turns, each
measured once per round. For every model, the round with the lowest median counts, because other work on
the machine disturbed it least.
"""

import argparse
import json
import os
import shlex
import sys
import tempfile
from pathlib import Path

import cargo_executable
import json_lines
import text_table

BATCH = 1024
DIMENSIONS = 8
DTYPE = "float32"
STEP_SCRIPT = Path(__file__).resolve().parent / "svgp_step.py"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="Python with requirements.txt: GPflow and GPyTorch")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--inducing", type=int, nargs="+", default=[512, 1024], metavar="M")
    parser.add_argument("--steps", type=int, default=20, help="timed steps per model")
    parser.add_argument("--rounds", type=int, default=3, help="processes per program")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--under",
        default="",
        help="command to start every measurement with, such as 'taskset -c 0,1'",
    )
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def own_times(arguments, program: Path, inducing: int) -> dict:
    """The times that `experiment solve-cost` measures for whitened models of one size."""
    environment = {**os.environ, "RAYON_NUM_THREADS": str(arguments.threads)}
    with tempfile.TemporaryDirectory() as folder:
        command = [*shlex.split(arguments.under), program, "experiment", "solve-cost"]
        command += ["--sizes", inducing, "--steps", arguments.steps, "--dtype", "f32"]
        json_lines.run([*command, "--out", folder, "--quiet"], environment)
        times = json.loads((Path(folder) / "results.json").read_text())
    return next(row for row in times if row["whitened"])


def peer_times(arguments, peer: str, inducing: int, options: list[str]) -> dict:
    command = [*shlex.split(arguments.under), arguments.peers, STEP_SCRIPT, peer, BATCH, inducing]
    command += [DIMENSIONS, DTYPE, "--isotropic-matern32", *options]
    command += ["--steps", arguments.steps, "--threads", arguments.threads]
    return json_lines.run(command)[0]


def measure(arguments, program: Path, inducing: int) -> dict:
    rounds = []
    for _ in range(arguments.rounds):
        times = {"own": own_times(arguments, program, inducing)}
        if arguments.peers:
            times["gpytorch"] = peer_times(arguments, "gpytorch", inducing, ["--decoupled"])
            times["gpflow"] = peer_times(arguments, "gpflow", 2 * inducing, [])
        rounds.append(times)
    row = {"inducing": inducing, "rounds": rounds}
    models = ("solve", "odvgp", "svgp_double")
    row["own"] = {key: min(times["own"][key] for times in rounds) for key in models}
    for peer in ("gpytorch", "gpflow") if arguments.peers else ():
        row[peer] = {"median_ms": min(times[peer]["median_ms"] for times in rounds)}
    return row


def table(rows: list[dict]) -> str:
    header = ["M+M", "SOLVE ms", "ODVGP ms", "SVGP(2M) ms", "GPyTorch ODVGP ms"]
    header += ["GPflow SVGP(2M) ms", "best peer / SOLVE", "GPyTorch / ODVGP", "GPflow / SVGP(2M)"]
    cells = []
    for row in rows:
        own = row["own"]
        line = [f"{row['inducing']}+{row['inducing']}"]
        line += [f"{own[key]:.2f}" for key in ("solve", "odvgp", "svgp_double")]
        if "gpflow" in row:
            gpytorch, gpflow = row["gpytorch"]["median_ms"], row["gpflow"]["median_ms"]
            line += [f"{gpytorch:.2f}", f"{gpflow:.2f}"]
            line.append(f"{min(gpytorch, gpflow) / own['solve']:.2f}")
            line += [f"{gpytorch / own['odvgp']:.2f}", f"{gpflow / own['svgp_double']:.2f}"]
        else:
            line += [""] * 5
        cells.append(line)
    return text_table.render(header, cells)


def main() -> None:
    arguments = parse_arguments()
    program = arguments.program or cargo_executable.build("bin", "burn-gp")
    rows = []
    for inducing in arguments.inducing:
        print(f"{inducing}+{inducing} ...", file=sys.stderr)
        rows.append(measure(arguments, program.resolve(), inducing))
    print(table(rows))
    if arguments.out:
        settings = {key: getattr(arguments, key) for key in ("steps", "rounds", "threads")}
        arguments.out.write_text(json.dumps({"settings": settings, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
