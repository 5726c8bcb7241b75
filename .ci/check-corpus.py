"""Checks the corpus as somebody sees it who has only the files: no code of this project is used.

    check-corpus.py [RECORD..]

So are the examples of the adapter protocol, the files of expectations, what fuzzing found, and the records of
runs that are named. Schemas, names, sizes, hashes, and what follows from the expectations are worked out anew here, so that
a mistake of the tool that writes the corpus shows.
"""

import copy
import gzip
import hashlib
import json
import re
import sys
from pathlib import Path

import jsonschema
import referencing

CORPUS = Path("corpus")
LEAST = 994
LEAST_GOLDEN = 35
# Above this many bytes a file has no document, even if some profile accepts it.
LARGEST_DOCUMENTED = 64 << 20
STAGES = ["magic", "header", "metadata", "tensor-table", "layout", "data", "semantics"]
LAST_STAGE = {"gguf-v3": "semantics", "ggml-header": "layout", "ggml-data": "data"}
WITH_REFERENCE = {"bug", "cve", "tutorial", "fuzz"}
# Names that Windows keeps for devices, whatever the extension.
RESERVED = re.compile(r"^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.IGNORECASE)

problems = []


def complain(where, what):
    problems.append(f"{where}: {what}")


def load(path):
    return json.loads(path.read_text(encoding="utf-8"))


def validators():
    schemas = {path.name: load(path) for path in sorted((CORPUS / "schemas").glob("*.schema.json"))}
    resources = [(name, referencing.Resource.from_contents(schema)) for name, schema in schemas.items()]
    registry = referencing.Registry().with_resources(resources)
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    return {name: jsonschema.Draft202012Validator(schema, registry=registry) for name, schema in schemas.items()}


def check_schema(validator, instance, where):
    error = jsonschema.exceptions.best_match(validator.iter_errors(instance))
    if error is not None:
        complain(where, f"{error.json_path}: {error.message[:300]}")


def objects(instance, path="$"):
    """Every JSON object inside, with its path."""
    if isinstance(instance, dict):
        yield path, instance
        for name, value in instance.items():
            yield from objects(value, f"{path}.{name}")
    elif isinstance(instance, list):
        for i, value in enumerate(instance):
            yield from objects(value, f"{path}[{i}]")


def check_closed(validator, instance, where):
    """A member that nobody documented must be refused, in whichever object it stands."""
    changed = copy.deepcopy(instance)
    for path, found in objects(changed):
        found["undocumented"] = 1
        if validator.is_valid(changed):
            complain(where, f"the schema lets an undocumented member pass in {path}")
        del found["undocumented"]


def derived_class(vector):
    """Whether the profiles that judge the stage of the first finding agree."""
    stages = [STAGES.index(says["stage"]) for says in vector["expect"].values() if "stage" in says]
    if not stages:
        return "valid"
    accepting = {
        says["outcome"] == "accept"
        for profile, says in vector["expect"].items()
        if STAGES.index(LAST_STAGE[profile.split("@")[0]]) >= min(stages)
    }
    return {frozenset({True}): "valid", frozenset({False}): "invalid"}.get(frozenset(accepting), "disputed")


def check_vector(vector, path, rules):
    data = path.with_suffix(".gguf").read_bytes()
    if vector["id"] != path.stem:
        complain(path, f"the id is {vector['id']}")
    if len(data) != vector["size"] or hashlib.sha256(data).hexdigest() != vector["sha256"]:
        complain(path, "the .gguf file has another size or hash")
    if vector["class"] != derived_class(vector):
        complain(path, f"the class is {vector['class']}, but {derived_class(vector)} follows from the outcomes")
    accepted = any(says["outcome"] == "accept" for says in vector["expect"].values())
    stated, unstated = "document" in vector, "limit" in vector.get("flags", []) or vector["size"] > LARGEST_DOCUMENTED
    if stated != accepted and not (accepted and unstated):
        complain(path, "a document is there exactly if some profile accepts the file, unless a limit forbids it")
    if ("document" in vector["evidence"]) != stated:
        complain(path, "evidence of the document is there exactly if the document is")
    if "document_ggml" in vector and not stated:
        complain(path, "a document of ggml's, and none of the file")
    if ("reference" in vector["origin"]) != (vector["origin"]["kind"] in WITH_REFERENCE):
        complain(path, f"origin {vector['origin']['kind']} with or without a reference")
    for finding in vector.get("findings", []):
        if not 0 <= finding["start"] <= finding["end"] <= vector["size"]:
            complain(path, f"the finding {finding['rule']} lies outside the file")
    named = {says["rule"] for says in vector["expect"].values() if "rule" in says}
    found = {finding["rule"] for finding in vector.get("findings", [])}
    if not named <= found:
        complain(path, f"objections without a finding: {sorted(named - found)}")
    breaks, keeps = (set(vector["rules"].get(part, [])) for part in ("breaks", "keeps"))
    if not breaks <= found:
        complain(path, f"said to break what is not found: {sorted(breaks - found)}")
    if keeps & found:
        complain(path, f"said to keep what is broken: {sorted(keeps & found)}")
    if not (breaks | keeps | found) <= rules:
        complain(path, f"rules that spec/SPEC.md does not have: {sorted((breaks | keeps | found) - rules)}")


def check_protocol(by_name):
    """The examples of the page are of the form that it describes, and it has every word of the schemas."""
    path = Path("docs/adapter-protocol.md")
    page = path.read_text(encoding="utf-8")
    examples = 0
    for block in re.findall(r"^```jsonl$(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        for line in block.strip().splitlines():
            direction, _, text = line.partition(" ")
            schema = {"->": "adapter-request.schema.json", "<-": "adapter-answer.schema.json"}[direction]
            message = json.loads(text)
            check_schema(by_name[schema], message, f"{path}: {line[:60]}")
            check_closed(by_name[schema], message, f"{path}: {line[:60]}")
            examples += 1
    for block in re.findall(r"^```json$(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        check_schema(by_name["expectations.schema.json"], json.loads(block), f"{path}: an example")
        check_closed(by_name["expectations.schema.json"], json.loads(block), f"{path}: an example")
        examples += 1
    if examples < 10:
        complain(path, f"only {examples} examples were found")
    omits = by_name["adapter-answer.schema.json"].schema["$defs"]["omit"]["enum"]
    verdicts = by_name["record.schema.json"].schema["$defs"]
    verdicts = verdicts["failure"]["enum"] + verdicts["verdict"]["anyOf"][1]["enum"]
    for heading, words in [("What a library does not show", omits), ("How an answer is judged", verdicts)]:
        section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| `([a-z_.-]+)` \|", section, re.MULTILINE)
        if sorted(rows) != sorted(words):
            complain(path, f"{heading}: the table and the schema differ in {sorted(set(rows) ^ set(words))}")


def check_expectations(by_name, ids):
    paths = sorted(Path("reports/expectations").glob("*.json"))
    for path in paths:
        expectations = load(path)
        check_schema(by_name["expectations.schema.json"], expectations, path)
        if expectations["implementation"] != path.stem:
            complain(path, f"is about {expectations['implementation']}")
        listed = [vector for group in expectations["groups"] for vector in group["vectors"]]
        for vector in sorted({vector for vector in listed if listed.count(vector) > 1 or vector not in ids}):
            complain(path, f"{vector} is listed twice, or is no vector")
        if not all(group["reason"] for group in expectations["groups"]):
            complain(path, "a group has no reason")
    return len(paths)


def check_findings(by_name, ids):
    """What fuzzing found: the vectors that came of it, and the reports about readers of others."""
    found = sorted((CORPUS / "found").glob("*.json"))
    for path in found:
        check_schema(by_name["found.schema.json"], load(path), path)
        if path.stem not in ids:
            complain(path, "is no vector")
    reported = sorted(Path("reports/findings").rglob("finding.json"))
    for path in reported:
        check_schema(by_name["finding.schema.json"], load(path), path)
    return len(found), len(reported)


def check_golden(by_name):
    """The golden decodes: what the files hold is what their descriptions say."""
    paths = sorted((CORPUS / "golden/decode").glob("*.json"))
    files = set()
    for path in paths:
        about = load(path)
        check_schema(by_name["golden.schema.json"], about, path)
        check_closed(by_name["golden.schema.json"], about, path)
        name = about["type"]
        sizes = {f"{name}.blocks.gz": about["bytes_per_block"], f"{name}.f32.gz": 4 * about["weights_per_block"]}
        if path.stem != name or set(about["files"]) != set(sizes):
            complain(path, f"is about {name} with {sorted(about['files'])}")
            continue
        for file, size in sizes.items():
            content = gzip.decompress(path.with_name(file).read_bytes())
            stated = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            if stated != about["files"][file] or len(content) != size * about["blocks"]:
                complain(path.with_name(file), "has another size or hash")
        first = 0
        for group in about["groups"]:
            if group["first"] != first:
                complain(path, f"the group {group['name']} starts at {group['first']}, not {first}")
            first += group["count"]
        if first != about["blocks"]:
            complain(path, f"the groups have {first} blocks together")
        for dispute in about["disputes"]:
            lengths = {len(values) for values in dispute["values"].values()}
            if lengths != {len(dispute["weights"])} or dispute["block"] >= about["blocks"]:
                complain(path, f"the dispute of block {dispute['block']} does not fit")
        files |= {path.name, *sizes}
    for path in sorted((CORPUS / "golden/decode").iterdir()):
        if path.name not in files:
            complain(path, "belongs to no type")
    if len(paths) < LEAST_GOLDEN:
        complain(CORPUS / "golden/decode", f"{len(paths)} types; at least {LEAST_GOLDEN} were expected")
    return len(paths)


def check_record(by_name, path):
    """The record of a run of readers or of kernels: its first line tells which."""
    with path.open(encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    of_kernels = lines[:1] != [] and lines[0].get("line") == "kernels"
    validator = by_name["kernel-record.schema.json" if of_kernels else "record.schema.json"]
    for number, line in enumerate(lines, 1):
        # Tens of thousands of lines: only what is wrong is looked at closely.
        if not validator.is_valid(line):
            check_schema(validator, line, f"{path}:{number}")
    for kind in ["kernels", "kernel-result", "kernel-footer"] if of_kernels else ["header", "result", "footer"]:
        line = next((line for line in lines if line["line"] == kind), None)
        if line is None:
            complain(path, f"has no {kind}")
        elif kind != "header":
            check_closed(validator, line, path)


def main():
    by_name = validators()
    page = Path("spec/SPEC.md").read_text(encoding="utf-8")
    rules = set(re.findall(r"^#+ `([A-Za-z0-9._-]+)`", page, re.MULTILINE))
    if not rules:
        complain("spec/SPEC.md", "no rule is found in it")

    paths = sorted(CORPUS.glob("vectors/*/*.json"))
    vectors = {path: load(path) for path in paths}
    if len(vectors) < LEAST:
        complain(CORPUS, f"{len(vectors)} vectors; at least {LEAST} were expected")
    stray = {path.with_suffix("") for path in CORPUS.glob("vectors/*/*.gguf")} ^ {path.with_suffix("") for path in paths}
    for path in sorted(stray):
        complain(path, "a .gguf file without a .json file, or the other way round")

    names = {}
    for path, vector in vectors.items():
        other = names.setdefault(path.stem.lower(), path)
        if other != path:
            complain(path, f"has the name of {other}, at least where case does not count")
        if RESERVED.match(path.stem):
            complain(path, "is a name that Windows does not allow")
        check_schema(by_name["vector.schema.json"], vector, path)
        check_vector(vector, path, rules)

    evidence = load(CORPUS / "evidence.json")
    check_schema(by_name["evidence.schema.json"], evidence, "corpus/evidence.json")
    for path, vector in vectors.items():
        line = evidence.get(vector["id"])
        if line != {"sha256": vector["sha256"], **vector["evidence"]}:
            complain(path, f"its evidence is {vector['evidence']}, but evidence.json has {line}")
        if vector["evidence"]["outcome"] == "derived":
            complain(path, "its outcome was never confirmed: run corpus verify with --bless, then corpus build")

    index = load(CORPUS / "index.json")
    check_schema(by_name["index.schema.json"], index, "corpus/index.json")
    listed = [entry["id"] for entry in index["vectors"]]
    if sorted(listed) != sorted(vector["id"] for vector in vectors.values()):
        complain("corpus/index.json", "does not list exactly the vectors that are there")

    # One vector of each shape is enough to see that the schemas are closed.
    shapes = {}
    for path, vector in vectors.items():
        shapes.setdefault((vector["class"], vector["origin"]["kind"], "document_ggml" in vector), (path, vector))
    for path, vector in shapes.values():
        check_closed(by_name["vector.schema.json"], vector, path)
    check_closed(by_name["index.schema.json"], {**index, "vectors": index["vectors"][:3]}, "corpus/index.json")

    readme = (CORPUS / "README.md").read_text(encoding="utf-8")
    explained = set(re.findall(r"^\| `([a-z0-9-]+)` \|", readme.partition("\n## Flags\n")[2].partition("\n## ")[0], re.MULTILINE))
    used = {flag for vector in vectors.values() for flag in vector.get("flags", [])}
    for flag in sorted(used - explained):
        complain("corpus/README.md", f"the flag {flag} is used and not explained")
    for flag in sorted(explained - used):
        complain("corpus/README.md", f"the flag {flag} is explained and not used")

    check_protocol(by_name)
    ids = {vector["id"] for vector in vectors.values()}
    expectations = check_expectations(by_name, ids)
    found, reported = check_findings(by_name, ids)
    golden = check_golden(by_name)
    records = [Path(name) for name in sys.argv[1:]]
    for path in records:
        check_record(by_name, path)

    for problem in problems[:50]:
        print(f"error: {problem}", file=sys.stderr)
    print(f"{len(vectors)} vectors, {len(rules)} rules, {len(used)} flags checked")
    print(f"{found} vectors of findings, {reported} reported findings, {golden} types with golden decodes")
    print(f"{expectations} files of expectations, {len(records)} records checked, {len(problems)} problems")
    return 1 if problems else 0


sys.exit(main())
