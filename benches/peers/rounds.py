"""Runs programs by turns on the files of several rounds, and prints one table of scores and seconds."""

import argparse
import csv
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import cargo_executable
import json_lines
import text_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of every comparison by rounds."""
    parser.add_argument("--peers", type=Path, help="Python with gpytorch; without it, only our program runs")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="JSON file to write")


def shuffled_table(
    data: Path | None, names: list[str], simulate: Callable, count: int, draws: random.Random
) -> tuple[list[str], list[list[str]]]:
    """The header and the rows, in random order, of the table `data`; without it, of `count` simulated rows."""
    if data:
        with data.open(newline="") as file:
            header, *rows = csv.reader(file)
    else:
        header, rows = names, [[repr(value) for value in simulate(draws)] for _ in range(count)]
    draws.shuffle(rows)
    return header, rows


def fit_and_predict(
    arguments: argparse.Namespace, train: Path, test: Path, options: list
) -> tuple[list[dict[str, str]], float]:
    """Trains on all rows of a file, predicts those of another one, and returns the predictions and the seconds of both
    processes of our program."""
    model, predictions = train.parent / "run", train.parent / "predictions.csv"
    fit = [arguments.program, "train", "--data", train, "--test-fraction", "0", "--out", model, "--quiet", *options]
    predict = [arguments.program, "predict", "--model-dir", model, "--data", test, "--out", predictions]
    began = time.monotonic()
    for command in (fit, predict):
        json_lines.run([*command, "--overwrite", "--threads", arguments.threads])
    seconds = time.monotonic() - began
    with predictions.open(newline="") as file:
        return list(csv.DictReader(file)), seconds


def mean(values: list[float]) -> str:
    return f"{statistics.fmean(values):.4f}"


def seconds(values: list[float]) -> str:
    return f"{statistics.median(values):.2f}"


def largest(values: list[float]) -> str:
    return f"{max(values):.1e}" if values else "-"


def compare(
    arguments: argparse.Namespace,
    programs: list[Callable],
    write: Callable,
    scores: Callable,
    columns: list[tuple[str, str, Callable]],
) -> None:
    """`write(arguments, round, folder)` makes the files of a round, each of `programs` returns its results and
    predictions from them, and `scores(arguments, files, mean, std)` scores these. The columns of the table are titles,
    keys of results, and what is printed of their values in all rounds."""
    arguments.program = arguments.program or cargo_executable.build("bin", "burn-gp")
    results: dict[str, list[dict]] = {}
    with tempfile.TemporaryDirectory() as created:
        for number in range(1, arguments.rounds + 1):
            files = write(arguments, number, Path(created))
            for program in programs if arguments.peers else programs[:1]:
                found = program(arguments, *files)
                found |= scores(arguments, files, found.pop("mean"), found.pop("std"))
                results.setdefault(found["program"], []).append({"round": number} | found)
                print(f"round {number}: {json.dumps(found)}", file=sys.stderr, flush=True)
    rows = [
        [program, *(text([own[key] for own in found if key in own]) for _, key, text in columns)]
        for program, found in results.items()
    ]
    print(text_table.render(["program", *(title for title, _, _ in columns)], rows))
    if arguments.out:
        arguments.out.write_text(json.dumps([own for found in results.values() for own in found], indent=1) + "\n")
