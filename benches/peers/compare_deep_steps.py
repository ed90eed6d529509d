"""Times one training step of deep and convolutional GPs and of deep kernels; prints one table.

Runs `benches/deep_steps`, `deep_gp_step.py` (GPyTorch, in two forms), `conv_step.py` (GPflow) and
`deep_kernel.py` (GPyTorch, exact), one program at a time. Memory is the peak resident memory of a
process.
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

FOLDER = Path(__file__).resolve().parent
# What each case is compared with: the name of the peer's program, and the command.
PEERS = {
    "deep": {
        "gpytorch": [FOLDER / "deep_gp_step.py"],
        "gpytorch, separate kernels": [FOLDER / "deep_gp_step.py", "--separate"],
    },
    "conv": {"gpflow": [FOLDER / "conv_step.py"]},
    # Exact deep kernel learning; ours has a kernel of finite rank.
    "deep-kernel": {"gpytorch, exact": [FOLDER / "deep_kernel.py"]},
}
DTYPES = {"f32": "float32", "f64": "float64"}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", help="Python with requirements.txt: GPflow and GPyTorch")
    parser.add_argument(
        "--reuse", type=Path, action="append", default=[], help="JSON file with earlier peer runs"
    )
    parser.add_argument("--program", type=Path, help="a built deep_steps; default: build it")
    parser.add_argument("--only", choices=list(PEERS), help="one case; default: all")
    parser.add_argument("--dtype", choices=list(DTYPES), help="default: f32", default="f32")
    parser.add_argument("--rounds", type=int, default=1, help="runs of each program; the median counts")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--under",
        default="",
        help="command to start every measurement with, such as 'taskset -c 0,1'",
    )
    parser.add_argument("--out", type=Path, help="JSON file to write")
    return parser.parse_args()


def own_runs(arguments, program: Path, case: str) -> list[dict]:
    environment = {**os.environ, "RAYON_NUM_THREADS": str(arguments.threads)}
    command = [*shlex.split(arguments.under), program, "--json", "--only", case]
    command += ["--dtype", arguments.dtype]
    return [json_lines.run(command, environment)[0] for _ in range(arguments.rounds)]


def peer_runs(arguments, earlier: list[dict], case: str, name: str) -> list[dict]:
    dtype = DTYPES[arguments.dtype]
    wanted = {"program": name, "case": case, "dtype": dtype}
    found = [run for run in earlier if all(run.get(key) == wanted[key] for key in wanted)]
    if found:
        return found
    if not arguments.peers:
        raise SystemExit(f"no earlier run of {name}, {case}, {dtype}; give --peers")
    command = [*shlex.split(arguments.under), arguments.peers, *PEERS[case][name]]
    command += ["--dtype", dtype, "--threads", arguments.threads]
    return [json_lines.run(command)[0] for _ in range(arguments.rounds)]


def medians(runs: list[dict]) -> dict:
    keys = ("milliseconds", "peak_mebibytes")
    return {key: statistics.median(run[key] for run in runs) for key in keys}


def measure(arguments, program: Path, earlier: list[dict], case: str) -> list[dict]:
    """The rows of one case, one per peer; ours is measured once."""
    print(f"{case}, ours ...", file=sys.stderr)
    own = own_runs(arguments, program, case)
    rows = []
    for name in PEERS[case]:
        print(f"{case}, {name} ...", file=sys.stderr)
        peer = peer_runs(arguments, earlier, case, name)
        rows.append(
            {
                "case": case,
                "dtype": arguments.dtype,
                "peer_program": name,
                "own": medians(own),
                "peer": medians(peer),
                "own_runs": own,
                "peer_runs": peer,
            }
        )
    return rows


def table(rows: list[dict]) -> str:
    header = ["case, peer", "ours ms", "peer ms", "peer / ours"]
    header += ["ours MiB", "peer MiB", "peer / ours"]
    cells = []
    for row in rows:
        line = [f"{row['case']} {row['dtype']}, {row['peer_program']}"]
        for key, digits in (("milliseconds", 1), ("peak_mebibytes", 0)):
            own, peer = row["own"][key], row["peer"][key]
            line += [f"{own:.{digits}f}", f"{peer:.{digits}f}", f"{peer / own:.2f}"]
        cells.append(line)
    return text_table.render(header, cells)


def main() -> None:
    arguments = parse_arguments()
    earlier = [
        run
        for path in arguments.reuse
        for line in json_lines.read(path)
        for run in line.get("peer_runs", [line])
    ]
    program = arguments.program or cargo_executable.build("bench", "deep_steps")
    rows = []
    for case in [arguments.only] if arguments.only else PEERS:
        rows += measure(arguments, program.resolve(), earlier, case)
        # Written after every case, so that --reuse can take the runs of an interrupted comparison.
        if arguments.out:
            arguments.out.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
