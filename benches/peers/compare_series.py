"""Times the log density of a series over time, and its gradient, in burn-gp, tinygp and celerite2; prints one table.

Runs `benches/state_space.rs` and `series_density.py` row by row and by turns, one program and one thread at a time, so
that other load on the machine affects all of them alike; of several rounds the fastest counts. Milliseconds are those
of the log density, and of the log density with its gradient. All compute the same number, except that celerite2
approximates Matern-3/2; the log densities are compared.
"""

import argparse
import json
import os
from pathlib import Path

import cargo_executable
import json_lines
import text_table

ROWS = [
    ("matern12", 10_000),
    ("matern12", 100_000),
    ("matern12", 1_000_000),
    ("matern32", 10_000),
    ("matern32", 100_000),
    ("matern32", 1_000_000),
    ("matern52", 10_000),
    ("matern52", 100_000),
    ("matern52", 1_000_000),
    ("matern52-uneven", 10_000),
    ("matern52-uneven", 100_000),
]
DENSITY_SCRIPT = Path(__file__).resolve().parent / "series_density.py"
SAME_DENSITY = 1e-6


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="Python with tinygp and celerite2")
    parser.add_argument("--program", type=Path, help="a built state_space; default: build it")
    parser.add_argument("--row", action="append", help="only a kernel, or a row such as 'matern52 10000'")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def own_run(program: Path, kernel: str, rows: int) -> dict:
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    return json_lines.run([program, f"{kernel}:{rows}"], environment)[-1]


def peer_run(python: str, peer: str, kernel: str, rows: int) -> dict:
    name, _, kind = kernel.partition("-")
    options = ["--uneven"] if kind else []
    return json_lines.run([python, DENSITY_SCRIPT, peer, name, rows, *options])[-1]


def measure(arguments: argparse.Namespace, program: Path, kernel: str, rows: int) -> dict[str, dict]:
    """The fastest times of each program on one row."""
    best: dict[str, dict] = {}
    peers = ["tinygp"] if "52" in kernel else ["tinygp", "celerite2"]
    for _ in range(arguments.rounds):
        lines = {"burn-gp": own_run(program, kernel, rows)}
        for peer in peers if arguments.peers else []:
            lines[peer] = peer_run(arguments.peers, peer, kernel, rows)
        for name, line in lines.items():
            known = best.setdefault(name, dict(line))
            for key in ("density_ms", "gradient_ms"):
                known[key] = min(known[key], line[key])
    exact = best["burn-gp"]["log_density"]
    found = best.get("tinygp", best["burn-gp"])["log_density"]
    if abs(found - exact) > SAME_DENSITY * abs(exact):
        raise SystemExit(f"{kernel} on {rows} rows: log densities {exact} and {found}")
    return best


def main() -> None:
    arguments = parse_arguments()
    program = arguments.program or cargo_executable.build("bench", "state_space")
    results, lines = {}, []
    for kernel, rows in ROWS:
        name = f"{kernel} {rows}"
        if arguments.row and not {kernel, name} & set(arguments.row):
            continue
        results[name] = best = measure(arguments, program, kernel, rows)
        cells = []
        for peer in ("burn-gp", "tinygp", "celerite2"):
            for key in ("density_ms", "gradient_ms"):
                cells.append(f"{best[peer][key]:.2f}" if peer in best else "–")
        lines.append([name, *cells])
    header = ["row"]
    for peer in ("burn-gp", "tinygp", "celerite2"):
        header += [f"{peer}: density", "with gradient"]
    print(text_table.render(header, lines))
    if arguments.out:
        arguments.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
