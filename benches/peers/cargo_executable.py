"""Builds an executable of this workspace with cargo and returns its path."""

import json
import subprocess
from pathlib import Path

WORKSPACE = Path(__file__).resolve().parents[2]


def build(kind: str, name: str) -> Path:
    """The release build of the executable `name`.

    `kind` is the target option of cargo, `bin`, `bench` or `example`. The features of dependencies are those of the
    whole workspace, so that cargo need not compile burn again. Cargo writes its messages to standard
    error and honors CARGO_TARGET_DIR.
    """
    command = ["cargo", "build", "--release", "--workspace", f"--{kind}", name]
    command.append("--message-format=json-render-diagnostics")
    built = subprocess.run(command, cwd=WORKSPACE, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        raise SystemExit(f"`{' '.join(command)}` failed in {WORKSPACE}")
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == name:
            return Path(message["executable"])
    raise SystemExit(f"`{' '.join(command)}` built no executable")
