#!/usr/bin/env python3
"""Search against ripgrep and GNU grep on real trees, warm cache, whole processes, interleaved runs.

Prints one row per question: the median time and the least processor time of each, the ratios to ripgrep, and whether the match
sets (path, line, column) are the same; or all of it as JSON, for the row of the bench. Exits 1 when a set differs.
usage: bench/search.py [--bin build/bin/relay-bench-search] [--runs 7] [--json] [DIR ...]
"""
import argparse
import json
import os
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
    """Wall and processor time, in milliseconds."""
    with open(out, "wb") as file:
        start = time.perf_counter()
        child = subprocess.Popen(command, stdout=file, stderr=subprocess.DEVNULL, env=env)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        return (time.perf_counter() - start) * 1000, (usage.ru_utime + usage.ru_stime) * 1000


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
    walls, cpus = {tool: [] for tool in all_commands}, {tool: [] for tool in all_commands}
    for attempt in range(runs + 1):  # the first one warms the cache
        for tool, command in all_commands.items():
            wall, cpu = run(command, work / tool, env)
            if attempt:
                walls[tool].append(wall)
                cpus[tool].append(cpu)
    ours, theirs = match_set(work / "relay"), match_set(work / "rg")
    wall = {tool: statistics.median(values) for tool, values in walls.items()}
    cpu = {tool: min(values) for tool, values in cpus.items()}
    only = [("relay " if row in ours else "rg ") + repr(row) for row in sorted(ours ^ theirs)[:5]]
    return {"tree": directory, "question": name, "matches": len(ours), "same": ours == theirs, "only": only, "wall": wall, "cpu": cpu,
            "wallRatio": wall["relay"] / wall["rg"], "cpuRatio": cpu["relay"] / cpu["rg"]}


def show(row):
    grep = f"{row['wall']['grep']:8.0f}" if "grep" in row["wall"] else "       -"
    print(f"{row['tree']:16} {row['question']:15} {row['matches']:9} {row['wall']['relay']:8.0f} {row['wall']['rg']:8.0f} {grep} "
          f"{row['wallRatio']:7.2f} {row['cpuRatio']:7.2f}  {'same' if row['same'] else 'DIFFERENT'}", flush=True)
    for text in row["only"]:
        print("   only", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--bin", default=str(root / "build/bin/relay-bench-search"))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("directories", nargs="*", default=["/usr/include", "/usr/share/doc"])
    arguments = parser.parse_args()
    if shutil.which("rg") is None:
        sys.exit("ripgrep is missing: apt-get install ripgrep")
    if not arguments.json:
        print(f"{'tree':16} {'question':15} {'matches':>9} {'relay ms':>8} {'rg ms':>8} {'grep ms':>8} {'to rg':>7} {'by cpu':>7}  match sets")
    rows = []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as work:
        for directory in arguments.directories:
            for question in QUESTIONS:
                rows.append(measure(arguments.bin, directory, question, arguments.runs, pathlib.Path(work)))
                if not arguments.json:
                    show(rows[-1])
    if arguments.json:
        print(json.dumps(rows))
    else:
        print(f"median ratio to ripgrep {statistics.median(r['wallRatio'] for r in rows):.2f}, worst {max(r['wallRatio'] for r in rows):.2f}; "
              f"by processor time {statistics.median(r['cpuRatio'] for r in rows):.2f}, worst {max(r['cpuRatio'] for r in rows):.2f}")
    sys.exit(0 if all(row["same"] for row in rows) else 1)


if __name__ == "__main__":
    main()
