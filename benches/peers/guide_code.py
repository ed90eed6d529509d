"""Runs the Python code of the guide's chapter "From GPyTorch and GPflow" and counts its statements.

    peers-env/bin/python guide_code.py [--chapter ../../docs/guide/src/peers.md]

Every block of a section runs with the data below in its own namespace. The table has a row for each
section of the chapter and a column for each library.
"""

import argparse
import ast
import json
import os
import pathlib
import re
import subprocess
import sys

from text_table import render

LIBRARIES = ["gpytorch", "gpflow"]


def blocks(text):
    """The Python blocks of a chapter as (section, code)."""
    section, code, found = None, None, []
    for line in text.splitlines():
        if code is None and line.startswith("## "):
            section = line[3:]
        elif code is None and line == "```python":
            code = []
        elif code is not None and line == "```":
            found.append((section, "\n".join(code)))
            code = None
        elif code is not None:
            code.append(line)
    return found


def statements(code):
    nodes = ast.walk(ast.parse(code))
    return sum(isinstance(node, ast.stmt) for node in nodes)


def names(library, section):
    """The names that the code of a library may use: imports and data."""
    import numpy as np

    x = np.linspace(0.0, 6.0, 60)[:, None]
    y = np.sin(x)
    if library == "gpflow":
        os.environ["TF_USE_LEGACY_KERAS"] = "1"  # GPflow's optimizers have `minimize`
        import gpflow
        import tensorflow as tf

        dataset = tf.data.Dataset.from_tensor_slices((x, y))
        return dict(gpflow=gpflow, tf=tf, x=x, y=y, new_x=x[:2], z=x[:20].copy(), dataset=dataset, steps=5,
                    optimizer=tf.keras.optimizers.legacy.Adam(0.05))
    import gpytorch
    import torch

    torch.manual_seed(0)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y[:, 0], dtype=torch.float32)
    if section.startswith("A GP layer"):
        x = x * torch.ones(1, 5)
    if section.startswith("Exact"):
        x = x[:, 0]
    data = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(data, batch_size=60)
    return dict(gpytorch=gpytorch, torch=torch, x=x, y=y, new_x=x[:2], loader=loader, epochs=5, steps=5)


def check_kernel(given):
    """The covariances of a kernel that a block defines, at three inputs."""
    import numpy as np

    x, expected = [[1.0], [2.0], [4.0]], np.minimum.outer([1.0, 2.0, 4.0], [1.0, 2.0, 4.0])
    kernel = given["Brownian"]()
    if "gpflow" in given:
        matrix, diagonal = kernel(np.array(x)).numpy(), kernel(np.array(x), full_cov=False).numpy()
    else:
        x = given["torch"].tensor(x)
        expected = expected * float(kernel.variance)
        matrix = kernel(x).to_dense().detach().numpy()
        diagonal = kernel(x, diag=True).detach().numpy()
    assert np.allclose(matrix, expected, rtol=1e-6), matrix
    assert np.allclose(diagonal, np.diag(expected), rtol=1e-6), diagonal


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    chapter = pathlib.Path(__file__).parents[2] / "docs/guide/src/peers.md"
    parser.add_argument("--chapter", type=pathlib.Path, default=chapter)
    parser.add_argument("--library", choices=LIBRARIES, help="run the code of one library and print JSON")
    arguments = parser.parse_args()
    if arguments.library:
        print(json.dumps(run(arguments.chapter, arguments.library)))
        return
    # TensorFlow and PyTorch each bring a copy of LLVM, which cannot both be loaded into one process.
    counts = {}
    for library in LIBRARIES:
        command = [sys.executable, __file__, "--chapter", arguments.chapter, "--library", library]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        for section, count in json.loads(output.splitlines()[-1]).items():
            counts.setdefault(section, {})[library] = str(count)
    rows = [[section, *(row.get(library, "–") for library in LIBRARIES)] for section, row in counts.items()]
    print(render(["job", *LIBRARIES], rows))


def run(chapter, library):
    """Runs all code of a library; returns the number of statements of each section."""
    counts = {}
    for section, code in blocks(chapter.read_text()):
        if not re.search(rf"\b{library}\.", code):
            continue
        given = names(library, section)
        exec(compile(code, f"{section}, {library}", "exec"), given)
        if "Brownian" in given:
            check_kernel(given)
        counts[section] = statements(code)
    return counts


if __name__ == "__main__":
    main()
