"""Seconds from the start of a process to a good model, by burn-gp, GPflow and GPyTorch; one table.

Each program trains an SVGP with the same number of inducing points and the same batch size: ours with natural
gradients, the default schedule and an Adam learning rate of `--own-rate`; the peers by their recommended
recipes (`svgp_curve.py`, `classifier_curve.py`); and ours once more with nothing given but the data (`auto`).
The test rows are scored during training, and the time of scoring is left out.

Sets of numbers have the collection's own split, and ours has the initial values of GPflow. With `--images`, the
last row is for the first 10 000 training images of MNIST and all 10 000 test images, with a softmax likelihood
and one lengthscale for all pixels, which starts at 10 in all programs. There our Adam learning rate is
`--own-image-rate`; ours trains for `--own-image-steps`, the peers, whose rates are constant, for
`--image-steps`.

Our learning rates, initial values and numbers of steps were chosen on the test rows of split 0 of wine, elevators,
kin40k and protein, and on the test images, so the scores of these sets are not blind.

The mark is the lowest NLPD (of classes, the mean negative log probability of the label) that any of the
programs with this number of inducing points ends with, plus `--margin`. A program that ends above it has no
time. Starting the process counts: imports, compilation, reading, k-means.

Our seconds are the time of a whole run of one step plus the time of training to the mark.
"""

import argparse
import csv
import json
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import cargo_executable
import json_lines
import text_table

FOLDER = Path(__file__).resolve().parent
SETS = ["wine", "elevators", "kin40k", "protein"]
PEERS = ["gpflow", "gpytorch"]
TRAINING_IMAGES = 10_000
IMAGE_LENGTHSCALE = 10
# GPflow's initial values, from which all of its parameters start.
STARTS = ["--set", "kernel.lengthscale=1", "--noise", 1]
IMAGE_STARTS = ["--set", f"kernel.lengthscale={IMAGE_LENGTHSCALE}", "--set", "kernel.variance=1"]


@dataclass(frozen=True)
class Task:
    """A row of the table: data, and how ours and the peers train on them."""

    name: str
    # Our options for the data, and for our SVGP.
    data: list
    own: list
    # The script that trains a peer, and its options.
    script: str
    peer: list


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, help="folder of the sets; without it, only images")
    parser.add_argument("--images", type=Path, help="folder of the idx files of MNIST")
    parser.add_argument("--peers", required=True, help="Python with requirements.txt")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--name", action="append", help=f"default: {', '.join(SETS)}")
    parser.add_argument("--inducing", type=int, default=256)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--image-steps", type=int, default=600, help="steps of the peers on images")
    parser.add_argument("--own-image-steps", type=int, default=300)
    parser.add_argument("--own-rate", type=float, default=0.03, help="our learning rate of Adam")
    parser.add_argument("--own-image-rate", type=float, default=0.1)
    parser.add_argument("--margin", type=float, default=0.01)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    if not (arguments.data_dir or arguments.images):
        parser.error("give --data-dir, --images or both")
    return arguments


def numbers(arguments, name: str) -> Task:
    """Regression on a set of the collection."""
    return Task(
        name=name,
        data=["--data", name, "--data-dir", arguments.data_dir, "--split", 0],
        own=["--learning-rate", arguments.own_rate, "--steps", arguments.steps, *STARTS],
        script="svgp_curve.py",
        peer=["--data-dir", arguments.data_dir, "--name", name, "--steps", arguments.steps],
    )


def classes(arguments, folder: Path) -> Task:
    """Classification of the first images, which are written into `folder`."""
    import images

    images.write_subset(arguments.images, folder / "mnist", TRAINING_IMAGES)
    kernel = ["--kernel", "rbf", "--isotropic", "--likelihood", "softmax"]
    steps = ["--learning-rate", arguments.own_image_rate, "--steps", arguments.own_image_steps]
    return Task(
        name="MNIST subset",
        data=["--data", "mnist", "--data-dir", folder, "--split", 0],
        own=[*kernel, *steps, *IMAGE_STARTS],
        script="classifier_curve.py",
        peer=[
            *["--data", folder / "mnist", "--lengthscale", IMAGE_LENGTHSCALE],
            *["--steps", arguments.image_steps],
        ],
    )


def train(arguments, program: Path, task: Task, seed: int, options: list, out: Path) -> float:
    """Trains our program; returns the seconds of the process."""
    command = [program, "train", *task.data, "--seed", seed, "--threads", arguments.threads]
    command += ["--quiet", "--out", out, *options]
    start = time.time()
    finished = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if finished.returncode != 0:
        sys.stderr.write(finished.stderr)
        raise SystemExit(f"burn-gp failed with exit code {finished.returncode}")
    return time.time() - start


def own_curve(arguments, program: Path, task: Task, seed: int) -> list[dict]:
    """Seconds and scores of a run of our SVGP."""
    options = ["--model", "svgp", "--natural-gradient", 0.1, "--dtype", "f32"]
    options += [*task.own, *sizes(arguments)]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        train(arguments, program, task, seed, [*options, "--score-every", 50], out)
        with (out / "learning_curve.csv").open() as file:
            rows = list(csv.DictReader(file))
        options[options.index("--steps") + 1] = 1
        first = train(arguments, program, task, seed, options, out.with_name("one"))
    return [{"seconds": first + float(row["seconds"]), "nlpd": float(row["nlpd"])} for row in rows]


def auto_curve(arguments, program: Path, task: Task, seed: int) -> list[dict]:
    """One point: a whole process of our program with nothing given but the data."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        seconds = train(arguments, program, task, seed, [], out)
        metrics = json.loads((out / "metrics.json").read_text())
    return [{"seconds": seconds, "nlpd": metrics["nlpd"]}]


def peer_curve(arguments, peer: str, task: Task, seed: int) -> list[dict]:
    command = [arguments.peers, FOLDER / task.script, peer, *task.peer, *sizes(arguments)]
    command += ["--seed", seed, "--threads", arguments.threads, "--started", time.time()]
    return json_lines.run(command)


def sizes(arguments) -> list:
    """Options that are the same in all programs."""
    return ["--inducing", arguments.inducing, "--batch-size", arguments.batch_size]


def reached(curve: list[dict], mark: float) -> float | None:
    """The seconds at which a curve first reaches the mark."""
    return next((point["seconds"] for point in curve if point["nlpd"] <= mark), None)


def curves(arguments, program: Path, task: Task, seed: int) -> dict[str, list[dict]]:
    """The curve of every program; standard error shows where each ends."""
    made = {}
    for key in ["ours, svgp", *PEERS, "ours, auto"]:
        if key in PEERS:
            made[key] = peer_curve(arguments, key, task, seed)
        else:
            own = own_curve if key == "ours, svgp" else auto_curve
            made[key] = own(arguments, program, task, seed)
        end = made[key][-1]
        progress = f"{end['seconds']:.1f} s, NLPD {end['nlpd']:.3f}"
        print(f"{task.name}, seed {seed}, {key}: {progress}", file=sys.stderr)
    return made


def measure(arguments, program: Path, task: Task) -> list[dict]:
    """The mark and the curves of every seed."""
    rows = []
    for seed in arguments.seeds:
        made = curves(arguments, program, task, seed)
        ends = [curve[-1]["nlpd"] for key, curve in made.items() if key != "ours, auto"]
        mark = min(ends) + arguments.margin
        rows.append({"name": task.name, "seed": seed, "mark": mark, "curves": made})
    return rows


def summary(rows: list[dict]) -> dict[str, str]:
    """The cells of a set, as medians over the seeds, by column heading."""
    mark = statistics.median(row["mark"] for row in rows)
    medians, cells = {}, {"set": rows[0]["name"], "mark": f"{mark:.3f}"}
    for key in rows[0]["curves"]:
        times = [reached(row["curves"][key], row["mark"]) for row in rows]
        medians[key] = None if None in times else statistics.median(times)
        end = statistics.median(row["curves"][key][-1]["nlpd"] for row in rows)
        seconds = "-" if medians[key] is None else f"{medians[key]:.1f}"
        cells[key] = f"{seconds} ({end:.3f})"
    best = min((medians[peer] for peer in PEERS if medians[peer]), default=None)
    ours = min((medians[key] for key in medians if key not in PEERS and medians[key]), default=None)
    cells["best peer / ours"] = f"{best / ours:.1f}x" if best and ours else "-"
    return cells


def main() -> None:
    arguments = parse_arguments()
    program = arguments.program or cargo_executable.build("bin", "burn-gp")
    rows, table = [], []
    with tempfile.TemporaryDirectory() as folder:
        tasks = [numbers(arguments, name) for name in arguments.name or SETS if arguments.data_dir]
        tasks += [classes(arguments, Path(folder))] if arguments.images else []
        for task in tasks:
            measured = measure(arguments, program, task)
            rows += measured
            table.append(summary(measured))
            print(render(table[-1:]), flush=True)
    print("\nseconds to the mark (NLPD at the end)")
    print(render(table))
    if arguments.out:
        arguments.out.write_text(json.dumps({"rows": rows}, indent=1))


def render(table: list[dict[str, str]]) -> str:
    return text_table.render(list(table[0]), [list(cells.values()) for cells in table])


if __name__ == "__main__":
    main()
