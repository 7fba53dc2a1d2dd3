#!/usr/bin/env python3
"""Search against ripgrep and GNU grep on real trees, warm cache, whole processes, interleaved runs.

Prints one row per question: median times, the ratio to ripgrep, and whether the match sets (path, line, column) are the
same. Exits 1 when a set differs. usage: bench/search.py [--bin build/bin/relay-bench-search] [--runs 7] [DIR ...]
"""
import argparse
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

QUESTIONS = [  # name, pattern, literal, ignore case
    ("rare literal", "EHOSTUNREACH", True, False),
    ("common literal", "return", True, False),
    ("absent literal", "zqxjkvzqxjkv", True, False),
    ("common regex", r"static inline [a-z]+ [a-z_]+\(", False, False),
    ("rare regex", r"[A-Z]{5}_[0-9]{4}_[A-Z]+", False, False),
    ("no literal", r"[a-z]+[0-9]+[a-z]+[0-9]+[a-z]", False, False),
    ("alternation", "deadlock|livelock|starvation", False, False),
    ("ignore case", "copyright notice", True, True),
    ("many matches", "the", True, False),
    ("every line", "^", False, False),
]


def commands(binary, directory, pattern, literal, ignore_case):
    flags = (["-F"] if literal else []) + (["-i"] if ignore_case else [])
    rg = ["rg", "--no-config", "--no-require-git", "--no-messages", "-n", "--column", "--no-heading", "--color", "never"]
    grep = ["grep", "-rnsI", "--exclude=.*", "--exclude-dir=.?*"] + ([] if literal else ["-E"])
    return {
        "relay": [binary, directory, pattern] + flags,
        "rg": rg + flags + ["--", pattern, directory],
        "grep": grep + flags + ["--", pattern, directory],
    }


def run(command, out, env):
    with open(out, "wb") as file:
        start = time.perf_counter()
        subprocess.run(command, stdout=file, stderr=subprocess.DEVNULL, env=env, check=False)
        return time.perf_counter() - start


def match_set(out):
    rows = set()
    for line in open(out, "rb").read().split(b"\n"):
        if line.startswith(b"WARNING") or not line:
            continue
        found = re.match(rb"(.*?):(\d+):(\d+):", line)
        if found and not line.endswith(b'found "\\0" byte'):
            rows.add(found.groups())
    return rows


def measure(binary, directory, question, runs, work):
    name, pattern, literal, ignore_case = question
    env = {"LC_ALL": "C.UTF-8", "PATH": "/usr/local/bin:/usr/bin:/bin"}
    all_commands = commands(binary, directory, pattern, literal, ignore_case)
    if name == "every line":
        del all_commands["grep"]
    times = {tool: [] for tool in all_commands}
    for attempt in range(runs + 1):  # the first one warms the cache
        for tool, command in all_commands.items():
            took = run(command, work / tool, env)
            if attempt:
                times[tool].append(took * 1000)
    medians = {tool: statistics.median(values) for tool, values in times.items()}
    ours, theirs = match_set(work / "relay"), match_set(work / "rg")
    same = ours == theirs
    grep = f"{medians['grep']:8.0f}" if "grep" in medians else "       -"
    print(f"{directory:16} {name:15} {len(ours):9} {medians['relay']:8.0f} {medians['rg']:8.0f} {grep} "
          f"{medians['relay'] / medians['rg']:7.2f}  {'same' if same else 'DIFFERENT'}", flush=True)
    if not same:
        for row in sorted(ours ^ theirs)[:5]:
            print("   only", "relay" if row in ours else "rg   ", row)
    return same, medians["relay"] / medians["rg"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--bin", default=str(root / "build/bin/relay-bench-search"))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("directories", nargs="*", default=["/usr/include", "/usr/share/doc"])
    arguments = parser.parse_args()
    if shutil.which("rg") is None:
        sys.exit("ripgrep is missing: apt-get install ripgrep")
    print(f"{'tree':16} {'question':15} {'matches':>9} {'relay ms':>8} {'rg ms':>8} {'grep ms':>8} {'to rg':>7}  match sets")
    results = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as work:
        for directory in arguments.directories:
            for question in QUESTIONS:
                results.append(measure(arguments.bin, directory, question, arguments.runs, pathlib.Path(work)))
    print(f"median ratio to ripgrep {statistics.median(r for _, r in results):.2f}, worst {max(r for _, r in results):.2f}")
    sys.exit(0 if all(same for same, _ in results) else 1)


if __name__ == "__main__":
    main()
