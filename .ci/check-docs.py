"""Checks the Markdown files and the committed text: links lead somewhere, no path of a machine."""

import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?([^)>\s]+)>?[^)]*\)")
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.MULTILINE)
ANCHOR = re.compile(r"""<a\s+(?:id|name)=["']([^"']+)["']""")
# Folders that exist on one machine only. Written so that this file does not match itself.
MACHINE = re.compile(r"(?<![\w.])/(?:wor[k]|roo[t]|tm[p]|(?:hom[e]|User[s])/\w+)[/\s]|\.\./share[d]")


def tracked(*patterns):
    listing = subprocess.run(["git", "ls-files", "-z", "--", *patterns], check=True, capture_output=True)
    return [Path(name) for name in listing.stdout.decode().split("\0") if name]


def slug(heading):
    """The anchor that a heading gets: links reduced to their text, then as the common renderers do."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


def anchors(path, cache={}):
    if path not in cache:
        text = FENCE.sub("", path.read_text(encoding="utf-8"))
        found, seen = set(ANCHOR.findall(text)), {}
        for heading in HEADING.findall(text):
            base = slug(heading)
            count = seen.get(base, 0)
            seen[base] = count + 1
            found.add(base if count == 0 else f"{base}-{count}")
        cache[path] = found
    return cache[path]


def check_links(path):
    text = re.sub(r"`[^`\n]*`", "", FENCE.sub("", path.read_text(encoding="utf-8")))
    for target in LINK.findall(text):
        if re.match(r"[a-z][a-z0-9+.-]*:", target):
            continue
        name, _, fragment = urllib.parse.unquote(target).partition("#")
        file = (path.parent / name) if name else path
        if not file.exists():
            yield f"{path}: the link {target} leads nowhere"
        elif fragment and file.suffix == ".md" and fragment not in anchors(file):
            yield f"{path}: the link {target} names a heading that {file} does not have"


def check_machine_paths(path):
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if MACHINE.search(line):
            yield f"{path}:{number}: names a folder of one machine: {line.strip()[:120]}"


documents = tracked("*.md")
if not documents:
    sys.exit("error: no Markdown file is tracked, so nothing was checked")
problems = [problem for path in documents for problem in check_links(path)]
files = [path for path in tracked() if path.suffix not in {".gguf", ".lock"} and path.is_file()]
problems += [problem for path in files for problem in check_machine_paths(path)]
for problem in problems:
    print(f"error: {problem}", file=sys.stderr)
print(f"{len(documents)} Markdown files and {len(files)} text files checked, {len(problems)} problems")
sys.exit(1 if problems else 0)
