#!/usr/bin/env python3
"""Reads the tables in ARCHITECTURE.md and fails on includes that they do not allow, and on permissions without use."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.M)


def table(heading):
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rows = text.split(heading, 1)[1].split("\n\n")
    body = next(part for part in rows if part.lstrip().startswith("|"))
    cells = [[c.strip() for c in line.strip().strip("|").split("|")] for line in body.strip().splitlines()]
    return {row[0]: row[1].split() for row in cells[2:]}


def main():
    allowed = table("## Allowed includes")
    doors = table("Heavy dependencies have one door each:")
    problems = []
    used = {folder: set() for folder in allowed}
    files = sorted(p for top in ("src", "workers") for p in (ROOT / top).rglob("*")
                   if p.suffix in (".h", ".cc") and p.parent != ROOT / "src")
    for path in files:
        name = str(path.relative_to(ROOT)).removeprefix("src/")
        folder = "/".join(name.split("/")[: 2 if name.startswith("workers/") else 1])
        if folder not in allowed:
            problems.append(f"{name}: folder '{folder}' has no row in ARCHITECTURE.md")
            continue
        is_for_tests = re.search(r"_(test\.cc|fixture\.h)$", name)
        is_test = re.search(r"_(test|fuzz|bench)\.cc$|/test_", name)
        for quote, include in INCLUDE.findall(path.read_text()):
            top = include.split("/")[0]
            if quote == "<" or "/" not in include or top not in allowed or top == folder:
                pass
            elif is_for_tests and include.endswith("_fixture.h"):
                pass  # a test may use the fixture of another folder
            elif top in allowed[folder]:
                used[folder].add(top)
            else:
                problems.append(f"{name}: includes {include}, but '{folder}' may not include '{top}'")
            for dependency, owners in doors.items():
                if include.startswith(dependency) and name not in owners and not is_test:
                    problems.append(f"{name}: includes {include}; the door is {' '.join(owners)}")
    for folder, targets in allowed.items():
        for target in targets:
            if target not in allowed:
                problems.append(f"ARCHITECTURE.md: '{folder}' may include '{target}', which has no row")
            elif target not in used[folder]:
                problems.append(f"ARCHITECTURE.md: '{folder}' may include '{target}', but no file of it does")
    print("\n".join(problems) or f"{len(files)} files keep to the table")
    return 1 if problems else 0


sys.exit(main())
