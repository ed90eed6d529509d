"""Times one SVGP training step of burn-gp and of its peers; prints one table of medians and ranges.

Runs `benches/svgp_step` and `svgp_step.py` row by row and one program at a time, so that other load
on the machine affects all of them alike. `floor` is the time of the multiply-adds that no
algorithm avoids, at the rate of a matrix product measured in the same run. No peer has SOLVE-GP, so
the rows `orthogonal` are compared with GPyTorch's orthogonally decoupled strategy and with GPflow's SVGP with
all inducing points in one set. GPJax has only the rows without a suffix.
"""

import argparse
import json
import os
import shlex
import statistics
import sys
from pathlib import Path

import cargo_executable
import json_lines
import text_table

ROWS = [
    ("float32", 256, 128, ""),
    ("float32", 1024, 512, ""),
    ("float32", 1024, 1024, ""),
    ("float64", 1024, 512, ""),
    ("float64", 1024, 1024, ""),
    ("float32", 1024, 512, "unwhitened"),
    ("float64", 1024, 512, "unwhitened"),
    ("float32", 1024, 512, "natural"),
    ("float64", 1024, 512, "natural"),
    ("float32", 1024, 512, "orthogonal"),
    ("float64", 1024, 512, "orthogonal"),
]
DIMENSIONS = 8
FASTER_THAN_PEERS = 4.0
LARGE_FROM_INDUCING = 512
LARGE_ABOVE_FLOOR = 1.3
SMALL_ABOVE_FLOOR = 2.0
SMALL_ADDED_MS = 0.1
STEP_SCRIPT = Path(__file__).resolve().parent / "svgp_step.py"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="Python with requirements.txt: GPflow and GPyTorch")
    parser.add_argument(
        "--without-gpflow", action="store_true", help="leave GPflow out, if --peers has no TensorFlow"
    )
    parser.add_argument("--peers-jax", help="Python with requirements-gpjax.txt: GPJax")
    parser.add_argument("--program", type=Path, help="a built svgp_step; default: build it")
    parser.add_argument("--row", action="append", help="only rows whose name contains this")
    parser.add_argument("--rounds", type=int, default=1, help="runs per row; the median counts")
    parser.add_argument("--steps", type=int, default=20, help="timed steps per run of a peer")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--under",
        default="",
        help="command to start every measurement with, such as 'taskset -c 0,1'",
    )
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def row_name(dtype: str, batch: int, inducing: int, variant: str) -> str:
    """The name that `svgp_step` gives a row."""
    suffix = f"-{variant}" if variant else ""
    return f"{dtype.replace('float', 'F')}-{batch}-{inducing}{suffix}"


def peer_options(peer: str, variant: str) -> list[str]:
    if variant == "orthogonal":
        return ["--decoupled"] if peer == "gpytorch" else []
    return [f"--{variant}"] if variant else []


def own_run(arguments, program: Path, name: str) -> dict:
    environment = {**os.environ, "RAYON_NUM_THREADS": str(arguments.threads)}
    lines = json_lines.run([*shlex.split(arguments.under), program, name], environment)
    return next(line for line in lines if line.get("row") == name)


def peer_run(arguments, python: str, peer: str, row: tuple) -> dict:
    dtype, batch, inducing, variant = row
    if variant == "orthogonal" and peer == "gpflow":
        inducing *= 2
    command = [*shlex.split(arguments.under), python, STEP_SCRIPT, peer, batch, inducing]
    command += [DIMENSIONS, dtype, *peer_options(peer, variant)]
    command += ["--steps", arguments.steps, "--threads", arguments.threads]
    return json_lines.run(command)[0]


def measure(arguments, program: Path, peers: dict[str, str], row: tuple) -> dict:
    """One row: medians over the rounds."""
    name = row_name(*row)
    peers = {peer: python for peer, python in peers.items() if peer != "gpjax" or not row[3]}
    own, floor, others, versions = [], [], {peer: [] for peer in peers}, {}
    for _ in range(arguments.rounds):
        line = own_run(arguments, program, name)
        own.append(line["median_ms"])
        floor.append(line["floor_ms"])
        for peer, python in peers.items():
            line = peer_run(arguments, python, peer, row)
            others[peer].append(line["median_ms"])
            versions[peer] = line["versions"]
    peer_ms = {peer: statistics.median(times) for peer, times in others.items()}
    own_ms, floor_ms = statistics.median(own), statistics.median(floor)
    factor = min(peer_ms.values()) / own_ms if peer_ms else None
    if row[2] >= LARGE_FROM_INDUCING:
        bar_ms = LARGE_ABOVE_FLOOR * floor_ms
    else:
        bar_ms = SMALL_ABOVE_FLOOR * floor_ms + SMALL_ADDED_MS
    return {
        "row": name,
        "own_ms": own_ms,
        "floor_ms": floor_ms,
        "ratio_to_floor": own_ms / floor_ms,
        "peer_ms": peer_ms,
        "best_peer_to_own": factor,
        "near_floor": own_ms <= bar_ms,
        "ahead_of_peers": None if factor is None else factor >= FASTER_THAN_PEERS,
        "own_rounds_ms": own,
        "peer_rounds_ms": others,
        "versions": versions,
    }


def spread(times: list[float]) -> str:
    """The median, and the range of several rounds."""
    if not times:
        return ""
    median = f"{statistics.median(times):.2f}"
    return f"{median} ({min(times):.2f}-{max(times):.2f})" if len(times) > 1 else median


def verdict(row: dict) -> str:
    """Which of the two bars a row misses."""
    missed = [] if row["near_floor"] else ["floor"]
    missed += ["peers"] if row["ahead_of_peers"] is False else []
    return f"missed: {', '.join(missed)}" if missed else "met"


def table(rows: list[dict], peers: list[str]) -> str:
    titles = [f"{peer} ms" for peer in peers]
    header = ["row", "ours ms", "floor ms", "x floor", *titles, "best peer / ours", "bar"]
    cells = [
        [
            row["row"],
            spread(row["own_rounds_ms"]),
            f"{row['floor_ms']:.2f}",
            f"{row['ratio_to_floor']:.2f}",
            *(spread(row["peer_rounds_ms"].get(peer, [])) for peer in peers),
            "" if row["best_peer_to_own"] is None else f"{row['best_peer_to_own']:.2f}",
            verdict(row),
        ]
        for row in rows
    ]
    return text_table.render(header, cells)


def main() -> None:
    arguments = parse_arguments()
    peers = {}
    if arguments.peers:
        names = ["gpytorch"] if arguments.without_gpflow else ["gpflow", "gpytorch"]
        peers |= dict.fromkeys(names, arguments.peers)
    if arguments.peers_jax:
        peers["gpjax"] = arguments.peers_jax
    chosen = [
        row
        for row in ROWS
        if not arguments.row or any(part in row_name(*row) for part in arguments.row)
    ]
    program = arguments.program or cargo_executable.build("bench", "svgp_step")
    rows = []
    for row in chosen:
        print(f"{row_name(*row)} ...", file=sys.stderr)
        rows.append(measure(arguments, program, peers, row))
    print(table(rows, list(peers)))
    print(
        f"bar: at least {FASTER_THAN_PEERS:g} times as fast as the best peer; at most "
        f"{LARGE_ABOVE_FLOOR:g} times the floor from {LARGE_FROM_INDUCING} inducing points on, "
        f"{SMALL_ABOVE_FLOOR:g} times the floor and {SMALL_ADDED_MS:g} ms below"
    )
    if arguments.out:
        settings = {key: getattr(arguments, key) for key in ("rounds", "steps", "threads")}
        arguments.out.write_text(json.dumps({"settings": settings, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
