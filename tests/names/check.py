#!/usr/bin/env python3
"""Checks names: a type name stands once in the tree, folders are small and have a page, and documents and comments of
headers name only files and types that exist."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
FOLDER_FILES_MAX = 55  # more than that, and a folder holds two subjects
README_LINES_MAX = 25  # one screen

# Types that may have the same name, with the reason.
SAME_NAME = {
    "LogFormat": "app: how relay's own log is written; audit: how the audit log is written. Each is a key of the configuration",
    "LogLevel": "base: levels of relay's own log; protocol: levels of notifications/message, which the specification names",
    "Tree": "vfs: the files of a session; workers/cage: a mount of relay-cage, a program that does not link vfs",
}

# Names of files that are not in this tree, with what they are.
OUTSIDE = {
    "sodium.h": "libsodium's header",
    "foo_test.cc": "stands for the test of any foo.cc",
    "deps/bundle.mjs": "a file of a JavaScript dependency layer",
    "github/index.ts": "a file under /mcps",
    "runtime/commonjs-names.mjs": "made by the build, beside the programs",
    "runtime/compile-bundle.mjs": "made by the build, beside the programs",
    "tests/format": "the name of a test without a folder, as tests/tidy",
    "tests/tidy": "the name of a test without a folder",
}

NOT_OF_TODAY = {"CHANGELOG.md", "RESULTS.md"}  # they tell what was, or what a bench measured then

SOURCE_ENDINGS = "h|cc|md|py|mjs|ts|cmake|html|schema\\.json|test\\.mjs"
PATH = re.compile(rf"(?<![\w/.<>$~:*{{-])((?:[\w.-]+/)+[\w.-]+\.(?:{SOURCE_ENDINGS}))(?![\w*/])")
FOLDER = re.compile(r"(?<![\w/.<>$~:*{-])((?:src|workers|tests|docs|harness|bench|fuzz)/[a-z_]+)/?(?=[`\s),;:])")
BARE = re.compile(r"(?<![\w/.<>*-])([a-z]\w*\.(?:h|cc))(?![\w*/])")
TYPE = re.compile(r"\b(?:class|struct|enum\s+class|enum\s+struct)\s+(?:\[\[[^\]]*\]\]\s*)?(\w+)(?:\s+final)?\s*(?::(?!:)[^()]*)?$")
COMMENT_OR_TEXT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)
SKIPPED = {"build", "node_modules", "__pycache__"}  # and what is hidden


def tree_files():
    pending = [ROOT]
    while pending:
        for path in pending.pop().iterdir():
            if path.name in SKIPPED or path.name.startswith("."):
                continue
            if path.is_dir() and not path.is_symlink():
                pending.append(path)
            elif path.is_file():
                yield path.relative_to(ROOT)


def types_of(text):
    """Names of the types that a header defines outside of other types and functions."""
    code = COMMENT_OR_TEXT.sub(" ", re.sub(r"^\s*#.*$", "", text, flags=re.M))
    enclosing, head = [], ""
    for piece in re.split(r"([{};])", code):
        if piece == "{":
            is_namespace = re.search(r"\bnamespace\b[\w:\s]*$", head) is not None
            found = TYPE.search(head.strip())
            if found and all(enclosing):
                yield found.group(1)
            enclosing.append(is_namespace)
        elif piece == "}" and enclosing:
            enclosing.pop()
        head = "" if piece in "{};" else piece


def type_problems(files):
    places = {}
    for path in files:
        if path.parts[0] in ("src", "workers") and path.suffix == ".h":
            for name in set(types_of((ROOT / path).read_text())):
                places.setdefault(name, []).append(str(path))
    for name, paths in sorted(places.items()):
        if len(paths) > 1 and name not in SAME_NAME:
            yield f"the type name {name} stands in {' and '.join(sorted(paths))}: rename one"
    for name in SAME_NAME:
        if len(places.get(name, [])) < 2:
            yield f"{name} is an exception in tests/names/check.py, but stands once: remove the exception"


def folder_problems(files):
    folders = {}
    for path in files:
        if len(path.parts) == 3 and path.parts[0] in ("src", "workers"):
            folders.setdefault(path.parent, []).append(path.name)
    for folder, names in sorted(folders.items()):
        if folder.parts[0] == "src" and len(names) > FOLDER_FILES_MAX:
            yield f"{folder} has {len(names)} files, more than {FOLDER_FILES_MAX}: split it"
        if "README.md" not in names:
            yield f"{folder} has no README.md"
            continue
        text = (ROOT / folder / "README.md").read_text()
        if text.count("\n") > README_LINES_MAX:
            yield f"{folder}/README.md is longer than {README_LINES_MAX} lines"
        for name, header in re.findall(r"^- `(\w+)` \(`([^`]+)`\)", text, re.M):
            path = ROOT / header if "/" in header else ROOT / folder / header
            if not path.exists() or name not in set(types_of(path.read_text())):
                yield f"{folder}/README.md: the type {name} is not defined in {header}"


def comments_of(text):
    return "\n".join(line.split("//", 1)[1] for line in text.splitlines() if "//" in line)


def path_problems(files):
    """A name with a slash must be the end of a path of the tree, a bare one the name of a file."""
    folders = {parent for path in files for parent in path.parents}
    endings = {"/".join(path.parts[at:]) for path in [*files, *folders] for at in range(len(path.parts))}
    used = set()
    for page in sorted(files):
        is_document = page.suffix == ".md" and page.name not in NOT_OF_TODAY
        if not is_document and not (page.suffix == ".h" and page.parts[0] in ("src", "workers")):
            continue
        text = (ROOT / page).read_text()
        text = text if is_document else comments_of(text)
        for name in sorted({*PATH.findall(text), *BARE.findall(text), *FOLDER.findall(text)}):
            if name in OUTSIDE:
                used.add(name)
            elif re.sub(r"^(\.\.?/)+", "", name) not in endings:
                yield f"{page}: names {name}, which does not exist"
    for name in sorted(set(OUTSIDE) - used):
        yield f"{name} is an exception in tests/names/check.py that nothing names: remove the exception"


def test_folder_problems(files):
    text = (ROOT / "tests/README.md").read_text()
    listed = {name for row in re.findall(r"^\| ([^|]+) \|", text, re.M) for name in re.findall(r"(\w+)/", row)}
    there = {path.parts[1] for path in files if path.parts[0] == "tests" and len(path.parts) > 2}
    for name in sorted(there - listed):
        yield f"tests/README.md: the folder {name}/ has no row"
    for name in sorted(listed - there):
        yield f"tests/README.md: {name}/ has a row but does not exist"


def main():
    files = list(tree_files())
    problems = [*type_problems(files), *folder_problems(files), *path_problems(files), *test_folder_problems(files)]
    print("\n".join(problems) or f"the names in {len(files)} files are in order")
    return 1 if problems else 0


sys.exit(main())
