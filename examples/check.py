#!/usr/bin/env python3
"""Holds docs/write-an-adapter.md and docs/write-a-provider.md to what happens: runs the commands of their console
blocks and compares the output, and looks for listings in the programs.

    python3 examples/check.py [--write] PATH_OF_ASSAY

From the root of the repository. With --write the blocks are brought up to date instead.
"""

import difflib
import os
import re
import subprocess
import sys
from pathlib import Path

DOCUMENTS = [Path("docs/write-a-provider.md"), Path("docs/write-an-adapter.md")]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
# What differs from run to run.
TIMES = re.compile(r"\d+(\.\d+)? (ms|s|seconds?|minutes?)\b")

write = "--write" in sys.argv
(assay,) = [argument for argument in sys.argv[1:] if argument != "--write"]
environment = {**os.environ, "PATH": f"{Path(assay).resolve().parent}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
programs = [path.read_text(encoding="utf-8") for path in sorted(Path("examples").rglob("*.py"))]
problems = 0
# Where the commands put what they make.
Path("target").mkdir(exist_ok=True)


def run(command):
    ended = subprocess.run(
        ["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment, encoding="utf-8"
    )
    return "".join(line.rstrip() + "\n" for line in ended.stdout.splitlines())


def problem(document, text):
    global problems
    problems += 1
    print(f"error: {document}: {text}", file=sys.stderr)


def checked(document, match):
    language, block = match.groups()
    if language == "python":
        if not any(block in program for program in programs):
            problem(document, f"no program of examples/ has the listing that starts with: {block.splitlines()[0]}")
        return match[0]
    command, _, shown = block.partition("\n")
    if not command.startswith("$ "):
        problem(document, f"a console block without a command: {command}")
        return match[0]
    seen = run(command[2:])
    if TIMES.sub("some time", seen) == TIMES.sub("some time", shown):
        return match[0]
    if not write:
        difference = difflib.unified_diff(shown.splitlines(), seen.splitlines(), "shown", "seen", lineterm="")
        problem(document, f"`{command[2:]}` shows something else:\n" + "\n".join(difference))
    return f"```console\n{command}\n{seen}```"


for document in DOCUMENTS:
    text = document.read_text(encoding="utf-8")
    blocks = len(BLOCK.findall(text))
    if blocks == 0:
        problem(document, "has no block to check")
    checked_text = BLOCK.sub(lambda match: checked(document, match), text)
    if write:
        document.write_text(checked_text, encoding="utf-8")
    print(f"{blocks} blocks of {document} checked")
print(f"{problems} problems")
sys.exit(1 if problems else 0)
