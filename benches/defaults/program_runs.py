"""Runs `burn-gp`, reads what it writes, and keeps the results of many runs in a file."""

import argparse
import csv
import hashlib
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

NOISE = "likelihood.noise"


class Refused(Exception):
    """The program refused; the text is its message."""


@dataclass(frozen=True)
class Program:
    """The executable `burn-gp`, and the threads that each of its processes may use; None for all."""

    path: Path
    threads: int | None = None

    def digest(self) -> str:
        """A digest that identifies the build of the program."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()[:16]

    def run(self, *words) -> str:
        """Runs `burn-gp WORDS` and returns what it prints."""
        environment = dict(os.environ)
        if self.threads is not None:
            environment["RAYON_NUM_THREADS"] = str(self.threads)
        command = [str(word) for word in (self.path, *words)]
        finished = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env=environment
        )
        if finished.returncode != 0:
            raise Refused(message(finished))
        return finished.stdout

    def train(self, data: Path, target: str, out: Path, *options) -> dict:
        """Trains on a file; returns metrics.json and the seconds of the process."""
        began = time.monotonic()
        fixed = ["--data", data, "--target", target, "--out", out, "--overwrite", "--quiet"]
        self.run("train", *fixed, *options)
        seconds = time.monotonic() - began
        return json.loads((out / "metrics.json").read_text()) | {"process_seconds": seconds}

    def predict(self, model: Path, data: Path) -> list[dict[str, float]]:
        """The predictions of all rows of a file: mean, std, lower and upper, all with the noise."""
        lines = csv.DictReader(self.run("predict", "--model-dir", model, "--data", data).splitlines())
        numbers = ["mean", "std", "lower", "upper"]
        try:
            return [{name: float(line[name]) for name in numbers} for line in lines]
        except (KeyError, TypeError, ValueError) as error:
            raise Refused(f"the predictions lack numbers or intervals: {error!r}") from error

    def noise(self, model: Path) -> float | None:
        """The standard deviation of the noise in the units of the target, if the model has one."""
        shown = json.loads(self.run("show", model, "--json"))
        for parameter in shown["parameters"]:
            if parameter["path"] == NOISE and parameter["units"] == "squared-target":
                return parameter["values"][0] ** 0.5
        return None


def message(finished: subprocess.CompletedProcess) -> str:
    """The error that a program printed, without its other lines."""
    lines = finished.stderr.strip().splitlines() or [f"exit code {finished.returncode} without a message"]
    errors = [line for line in lines if line.startswith("error: ")]
    return (errors or lines)[-1].removeprefix("error: ")


def write_csv(path: Path, header: list[str], rows: list[list]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


class Results:
    """Runs by their keys, in a JSON file if there is one.

    An existing file is continued, so that an interrupted measurement loses nothing; refused runs
    are tried again. The file must come from the same build of the program with the same settings.
    """

    def __init__(self, path: Path | None, settings: dict) -> None:
        self.path = path
        self.settings = settings
        self.runs: list[dict] = []
        if path is not None and path.exists():
            found = json.loads(path.read_text())
            if found["settings"] != settings:
                raise SystemExit(
                    f"{path} has results of a different program or different options, {found['settings']}, "
                    f"not of {settings}; choose another file with --out"
                )
            self.runs = [run for run in found["runs"] if "refused" not in run]

    def of(self, key: dict) -> list[dict]:
        """The runs with all these values."""
        return [run for run in self.runs if all(run.get(name) == value for name, value in key.items())]

    def complete(self, keys: list[dict], measure, jobs: int) -> None:
        """Measures what is missing, `jobs` at a time. `measure` takes a key and returns its results."""
        missing = [key for key in keys if not self.of(key)]

        def one(key: dict) -> dict:
            try:
                return key | measure(key)
            except Refused as refused:
                return key | {"refused": str(refused)}

        with ThreadPoolExecutor(jobs) as pool:
            for count, run in enumerate(pool.map(one, missing), 1):
                self.runs.append(run)
                values = ", ".join(f"{value}" for value in list(run.values())[: len(missing[0])])
                seconds = f"{run['seconds']:.1f} s" if "seconds" in run else run["refused"]
                print(f"{count} of {len(missing)}: {values}: {seconds}", file=sys.stderr, flush=True)
                self.write()

    def write(self) -> None:
        if self.path is None:
            return
        partial = self.path.with_name(self.path.name + ".partial")
        runs = ",\n".join(json.dumps(run) for run in self.runs)
        partial.write_text(f'{{"settings": {json.dumps(self.settings)},\n"runs": [\n{runs}\n]}}\n')
        partial.replace(self.path)


def earlier(path: Path) -> Results:
    """The results of a file, to compare with."""
    results = Results(None, {})
    results.runs = json.loads(path.read_text())["runs"]
    return results


def mean(runs: list[dict], name: str) -> float | None:
    """The mean of a value over runs; None if one of them was refused or lacks it."""
    values = [run.get(name) for run in runs]
    if not values or any(value is None for value in values):
        return None
    return sum(values) / len(values)


def shown(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def numbers(kind):
    """A parser of comma-separated option values."""
    return lambda text: [kind(part) for part in text.split(",")]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of both scripts."""
    parser.add_argument("--program", type=Path, required=True, help="a built burn-gp")
    parser.add_argument("--extra", default="", metavar="OPTIONS", help="more options for `train`")
    parser.add_argument("--jobs", type=int, default=1, help="runs at the same time (default: 1)")
    parser.add_argument(
        "--threads", type=int, help="threads per run (default: all processors; 1 with several jobs)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="JSON file to write or to continue")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="earlier results to show for comparison")


def program_of(arguments: argparse.Namespace) -> Program:
    path = arguments.program.resolve()
    if not path.is_file():
        raise SystemExit(f"there is no program {path}")
    threads = arguments.threads
    if threads is None and arguments.jobs > 1:
        threads = 1
    return Program(path, threads)
