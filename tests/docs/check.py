#!/usr/bin/env python3
"""Compares what the documents list with what the sources define: configuration keys, variables, tools' formats pages, and the tests that hold promises."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()


def schema_keys(schema, path=""):
    for key, value in schema.get("properties", {}).items():
        if key == "$schema":
            continue
        here = f"{path}.{key}" if path else key
        if "properties" in value:
            if value["type"] != "object":  # an object or something shorter
                yield here
            yield from schema_keys(value, here)
        elif value.get("type") == "array" and value["items"].get("type") == "object":
            yield here + "[]"
            yield from schema_keys(value["items"], here + "[]")
        else:
            yield here


def first_column(text, heading):
    rows = text.split(heading, 1)[1].split("\n\n")[1].strip().splitlines()[2:]
    return [re.match(r"\| `([^`]+)`", row).group(1) for row in rows]


def compare(what, documented, defined):
    problems = [f"{what}: {name} is not documented" for name in defined if name not in documented]
    return problems + [f"{what}: {name} is documented but does not exist" for name in documented if name not in defined]


def passed_variables():
    """The variables that upstream servers inherit, and the table of docs/upstream.md."""
    source = (ROOT / "src/launch/child_environment.cc").read_text()
    lists = re.findall(r"constexpr std::string_view k\w+\[\] = \{(.*?)\};", source, re.S)
    defined = re.findall(r'"(\w+)"', " ".join(lists))
    table = (ROOT / "docs/upstream.md").read_text().split("## Environment", 1)[1].split("\n\n")[2]
    return compare("upstream environment", [name for name in re.findall(r"`([\w*]+)`", table) if name != "LC_*"], defined)


def dead_links():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                yield f"{page.relative_to(ROOT)}: link to {target}, which does not exist"


def unheld_promises():
    """Each promise of docs/THREATS.md names a test that exists: `file` "name of the test", more names, more files."""
    rows = re.findall(r"^\| ([A-Z]\d+) \|.*\|(.*)\|$", (ROOT / "docs/THREATS.md").read_text(), re.M)
    if not rows:
        yield "docs/THREATS.md: no promise was found"
    for number, held in rows:
        parts = re.findall(r"`([^`]+)`((?: \"[^\"]+\",?)+)", held)
        if not parts:
            yield f"docs/THREATS.md: promise {number} names no test"
        for file, names in parts:
            text = (ROOT / file).read_text() if (ROOT / file).is_file() else ""
            for name in re.findall(r'"([^"]+)"', names):
                if name not in text.replace("\\'", "'"):
                    yield f"docs/THREATS.md: promise {number} names \"{name}\", which {file} does not have"


def main():
    text = (ROOT / "docs/configuration.md").read_text()
    schema = json.loads((ROOT / "src/config/config.schema.json").read_text())
    variables = re.findall(r'EnvironmentVariable\{"(\w+)"', (ROOT / "src/config/environment.cc").read_text())
    problems = compare("configuration", first_column(text, "## Keys"), list(schema_keys(schema)))
    problems += compare("environment", first_column(text, "## Environment"), variables)
    problems += passed_variables()
    problems += dead_links()
    problems += unheld_promises()
    print("\n".join(problems) or "the documents agree with the sources")
    return 1 if problems else 0


sys.exit(main())
