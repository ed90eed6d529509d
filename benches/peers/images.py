"""Labeled images in the idx files of MNIST. Import after `processor_threads.limit`."""

import gzip
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PARTS = {"train": "train", "test": "t10k"}
KINDS = ["images-idx3-ubyte", "labels-idx1-ubyte"]


@dataclass(frozen=True)
class Images:
    """Pixels between 0 and 1, one image per row, and labels 0, 1, ..."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


def read(path: Path) -> np.ndarray:
    """Reads an idx file of bytes, gzipped or not."""
    packed = path.with_name(path.name + ".gz")
    content = gzip.decompress(packed.read_bytes()) if packed.exists() else path.read_bytes()
    dimensions = content[3]
    sizes = struct.unpack(f">{dimensions}I", content[4 : 4 + 4 * dimensions])
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(sizes)


def write(path: Path, items: np.ndarray) -> None:
    """Writes an idx file of bytes."""
    header = struct.pack(f">4B{items.ndim}I", 0, 0, 8, items.ndim, *items.shape)
    path.write_bytes(header + items.tobytes())


def load(folder: Path, dtype: str) -> Images:
    """Loads the set in a folder."""
    arrays = {}
    for part, name in PARTS.items():
        pixels, labels = (read(folder / f"{name}-{kind}") for kind in KINDS)
        arrays[f"x_{part}"] = pixels.reshape(len(pixels), -1).astype(dtype) / np.dtype(dtype).type(255)
        arrays[f"y_{part}"] = labels
    return Images(**arrays)


def write_subset(source: Path, to: Path, rows: int) -> None:
    """Copies the set in the folder `source` to a new one, with only its first `rows` training images."""
    to.mkdir()
    for part, name in PARTS.items():
        for kind in KINDS:
            items = read(source / f"{name}-{kind}")
            write(to / f"{name}-{kind}", items[:rows] if part == "train" else items)
