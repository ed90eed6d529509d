"""Runs a program that prints JSON lines, and reads files of them."""

import json
import subprocess
import sys
from pathlib import Path


def parse(text: str) -> list[dict]:
    """The JSON objects among the lines of `text`."""
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def run(command: list, environment: dict | None = None) -> list[dict]:
    """Runs a command and returns what it prints; its standard error is shown only if it fails."""
    words = [str(word) for word in command]
    finished = subprocess.run(words, capture_output=True, text=True, env=environment)
    if finished.returncode != 0:
        sys.stderr.write(finished.stderr)
        raise SystemExit(f"`{' '.join(words)}` failed with exit code {finished.returncode}")
    return parse(finished.stdout)


def read(path: Path) -> list[dict]:
    """The objects of a file: one per line, or the list `rows` of one object."""
    text = path.read_text()
    try:
        whole = json.loads(text)
    except json.JSONDecodeError:
        return parse(text)
    return whole["rows"] if "rows" in whole else [whole]
