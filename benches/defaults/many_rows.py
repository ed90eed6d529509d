"""Trains models for many rows on maps and on tables of more inputs; prints one table of their scores.

The maps are the simulated temperatures of Heaton et al., "A case study competition among methods for analyzing large
spatial data" (arXiv:1710.05013), in degrees on a plane, and a month of precipitation on land, on the sphere. `--maps`
is a folder with `NAME.train.csv.gz` and `NAME.test.csv.gz`. `--data-dir` is a folder of the public `uci_datasets`,
whose first split is used. Sets without files are left out. `--rows-limit` takes some of the rows of each set at random,
for a quick look.

All models of a set have the same kernel, chosen by the log density that nearest-neighbor regression gives the training
rows. Scores are those of the test rows in standardized units. `neighbors` is the RMSE of the mean of the
30 nearest training rows, weighted by inverse distance. Seconds are those of a whole `train` process; other work on the
machine adds to them, and changes no score.
"""

import argparse
import gzip
import json
import random
import shlex
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import program_runs
from program_runs import Program, Results, mean, shown

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers"))
import text_table  # noqa: E402

SPARSE = ["vif", "sgpr", "svgp"]
ON_BATCHES = ["vnngp", "svgp"]
# With mini-batches that are larger than by default, these steps see every row about twenty times or more.
# Steps of vif cost about twenty times those of vecchia.
STEPS = {"vif": 50, "vnngp": 2000, "sgpr": 100, "svgp": 2000}
MODELS = ["vecchia", "vif", "vnngp", "sgpr", "svgp", "conjugate-gradients"]
DEFAULT_MODELS = ["vecchia", "vif", "vnngp", "sgpr", "svgp"]
SCORES = {"rmse": "RMSE", "nlpd": "NLPD", "crps": "CRPS", "coverage95": "coverage"}


@dataclass(frozen=True)
class Table:
    """A data set with the options of all of its runs."""

    name: str
    kernel: str
    target: str | None = None
    options: tuple[str, ...] = ()

    @property
    def is_map(self) -> bool:
        return self.target is not None


TABLES = [
    Table("simulated", "matern12", "temp", ("--kind", "lon=number", "--kind", "lat=number")),
    Table("precipitation", "matern32", "mm"),
    Table("kin40k", "matern52"),
    Table("protein", "matern12"),
]


def files(arguments: argparse.Namespace, table: Table) -> list[Path]:
    """The files of a set; the folder for one of the collection."""
    if table.is_map:
        return [arguments.maps / f"{table.name}.{part}.csv.gz" for part in ("train", "test")] if arguments.maps else []
    return [arguments.data_dir / table.name] if arguments.data_dir else []


def source(arguments: argparse.Namespace, table: Table, folder: Path) -> list:
    """The options that name the data. Maps are unpacked, and rows written anew if there is a limit."""
    if not table.is_map and arguments.rows_limit is None:
        return ["--data", table.name, "--data-dir", arguments.data_dir, "--split", 0]
    header, parts = map_lines(arguments, table) if table.is_map else collection_lines(arguments, table)
    written = []
    for name, lines in zip(("train", "test"), parts, strict=True):
        if arguments.rows_limit is not None and arguments.rows_limit < len(lines):
            lines = random.Random(name).sample(lines, arguments.rows_limit)
        written.append(folder / f"{name}.csv")
        written[-1].write_text("\n".join([header, *lines, ""]))
    return ["--data", written[0], "--test", written[1], "--target", table.target or "y"]


def lines_of(path: Path) -> list[str]:
    with gzip.open(path, "rt") as file:
        return file.read().splitlines()


def map_lines(arguments: argparse.Namespace, table: Table) -> tuple[str, list[list[str]]]:
    """The header, and the lines of the training rows and of the test rows."""
    (header, *train), (_, *test) = (lines_of(file) for file in files(arguments, table))
    return header, [train, test]


def collection_lines(arguments: argparse.Namespace, table: Table) -> tuple[str, list[list[str]]]:
    """As `map_lines`, of a set of the collection, whose columns have no names."""
    folder = arguments.data_dir / table.name
    lines = lines_of(folder / "data.csv.gz")
    is_test = [line.split(",")[0].strip() == "1" for line in lines_of(folder / "test_mask.csv.gz")]
    parts = [[line for line, own in zip(lines, is_test, strict=True) if own == part] for part in (False, True)]
    inputs = [f"x{place}" for place in range(1, lines[0].count(",") + 1)]
    return ",".join([*inputs, "y"]), parts


def options_of(model: str, arguments: argparse.Namespace) -> list:
    words = ["--model", model]
    if model in SPARSE:
        words += ["--inducing", arguments.inducing]
    if model in ON_BATCHES:
        words += ["--batch-size", arguments.batch_size]
    steps = arguments.steps or STEPS.get(model)
    return [*words, "--steps", steps] if steps else words


def measure(arguments: argparse.Namespace, program: Program, key: dict) -> dict:
    table = next(table for table in TABLES if table.name == key["table"])
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        words = ["train", *source(arguments, table, folder), "--kernel", table.kernel, *table.options]
        words += ["--out", folder / "model", "--quiet", *options_of(key["model"], arguments)]
        words += shlex.split(arguments.extra)
        began = time.monotonic()
        program.run(*words)
        seconds = time.monotonic() - began
        metrics = json.loads((folder / "model/metrics.json").read_text())
    names = [*SCORES, "n_train", "n_test", "d", "kernel", "steps"]
    near = metrics.get("baselines", {}).get("nearest_neighbors", {}).get("rmse")
    return {name: metrics[name] for name in names} | {"seconds": seconds, "neighbors": near}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    program_runs.add_options(parser)
    parser.add_argument("--maps", type=Path, metavar="DIR", help="folder of the maps")
    parser.add_argument("--data-dir", type=Path, metavar="DIR", help="folder of the uci_datasets")
    names = [table.name for table in TABLES]
    parser.add_argument("--tables", nargs="+", choices=names, default=names, help="some sets; default: all")
    parser.add_argument("--models", nargs="+", choices=MODELS, default=DEFAULT_MODELS)
    parser.add_argument("--inducing", type=int, default=128, help="of vif, sgpr and svgp (default: 128)")
    parser.add_argument("--batch-size", type=int, default=1024, help="of svgp and vnngp (default: 1024)")
    parser.add_argument("--rows-limit", type=int, help="training rows, and test rows, of each set (default: all)")
    parser.add_argument("--steps", type=int, help=f"of all models (default: {STEPS}, others until flat)")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    for name in ("maps", "data_dir"):
        if folder := getattr(arguments, name):
            setattr(arguments, name, folder.resolve())
    program = program_runs.program_of(arguments)
    tables = [table for table in TABLES if table.name in arguments.tables]
    present = [table for table in tables if (own := files(arguments, table)) and all(file.exists() for file in own)]
    keys = [{"table": table.name, "model": model} for table in present for model in arguments.models]
    settings = {name: getattr(arguments, name) for name in ("extra", "inducing", "batch_size", "steps", "rows_limit")}
    results = Results(arguments.out, {"program": program.digest()} | settings)
    results.complete(keys, lambda key: measure(arguments, program, key), arguments.jobs)
    found = [run for key in keys for run in results.of(key) if "refused" not in run]
    before = program_runs.earlier(arguments.compare) if arguments.compare else None

    def line(run: dict) -> list[str]:
        cells = [f"{run['table']} ({run['n_train']} × {run['d']}), {run['model']}"]
        cells += [shown(run[name]) for name in [*SCORES, "neighbors"]] + [shown(run["seconds"], 0)]
        if before:
            then = before.of({"table": run["table"], "model": run["model"]})
            cells += [shown(mean(then, name)) for name in SCORES]
        return cells

    lines = [line(run) for run in found]
    header = ["table (rows × inputs), model", *SCORES.values(), "neighbors", "seconds"]
    if before:
        header += [f"before: {title}" for title in SCORES.values()]
    print(text_table.render(header, lines))
    for table in tables:
        if table not in present:
            print(f"left out: {table.name}, whose files are not there")
    refused = [run for key in keys for run in results.of(key) if "refused" in run]
    for run in refused:
        print(f"refused: {run['table']}, {run['model']}: {run['refused']}")
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main()
