#!/usr/bin/env python3
"""Compares the speed of two builds of posbench.

Runs `posbench bench` of both builds in turns on one core, several times. Each build runs first in every other round, so that
changes of the machine's speed affect both equally. They do not run at the same time, because they would then evict each
other's data from the caches of the core. Prints the median over the rounds of the ratio of the times of a training step, for
each size and encoding. Exit code 1 if the second build is slower by more than --most in any row.

    scripts/compare_speed.py build/before/posbench build/release/posbench -e none,cope,dape --sizes quick,che
    scripts/compare_speed.py build/release/posbench build/release/posbench --isa v3,v4     one build, with and without AVX-512

Two runs of one build differ by a few percent, because the speed depends on the addresses of its memory and on other load of
the machine. Rounds are therefore many and short, so that both builds run within seconds of each other and at many addresses. They
also place large matrices in different ways (a setting of glibc's malloc). Compare a build with itself to see the remaining
differences, and use more rounds and other lists of encodings to average over them.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys

# Sizes in bytes from which malloc places a block in pages of its own. None: glibc's default, which changes as a program runs.
THRESHOLDS = (None, 1 << 16, 1 << 30)


def seconds(program, instruction_set, threshold, arguments):
    """Returns the median seconds of a training step by (size, length, encoding), from the output of a benchmark."""
    environment = dict(os.environ)
    if instruction_set:
        environment["POSBENCH_ISA"] = instruction_set
    if threshold:
        environment["MALLOC_MMAP_THRESHOLD_"] = str(threshold)
    output = subprocess.run(
        [program, "bench", "--json", "-q", *arguments], stdout=subprocess.PIPE, env=environment, check=True
    ).stdout
    return {
        (row["size"], row["length"], row["encoding"]): row["spread"]["step_seconds"]["median"]
        for row in json.loads(output)["benchmarks"]
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a posbench program")
    parser.add_argument("after", help="the program to compare with it")
    parser.add_argument("-e", "--encodings", default="none,alibi,rope,shaw_k,cope,dape", help="as for posbench bench")
    parser.add_argument("--sizes", default="quick,che", help="as for posbench bench")
    parser.add_argument(
        "--rounds",
        type=int,
        default=24,
        help="runs of both builds; a multiple of 6 balances the order and the places in memory",
    )
    parser.add_argument("--isa", default=",", metavar="BEFORE,AFTER", help="instruction sets, if they differ")
    parser.add_argument("--most", type=float, default=1.05, help="largest ratio of times that passes")
    request = parser.parse_args()
    arguments = ["-e", request.encodings, "--sizes", request.sizes, "--repetitions", "1"]
    if request.isa.count(",") != 1:
        parser.error(f"--isa is '{request.isa}', expected two instruction sets, as in v3,v4")
    if request.rounds < 1:
        parser.error(f"--rounds is {request.rounds}, expected 1 or more")
    isa_before, isa_after = request.isa.split(",")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    builds = [(request.before, isa_before), (request.after, isa_after)]
    rounds = []
    for number in range(request.rounds):
        order = (0, 1) if number % 2 == 0 else (1, 0)
        threshold = THRESHOLDS[number // 2 % len(THRESHOLDS)]
        times = {build: seconds(*builds[build], threshold, arguments) for build in order}
        rounds.append((times[0], times[1]))
    slower = 0
    dropped = rounds[0][0].keys() ^ rounds[0][1].keys()
    if dropped:
        print("only one build has: " + ", ".join(sorted(f"{size} {length} {name}" for size, length, name in dropped)))
    if not rounds[0][0].keys() & rounds[0][1].keys():
        parser.error("the builds have no size and encoding in common")
    print(f"{'size':<8}{'length':>7}  {'encoding':<24}{'after / before':>15}   lowest .. highest of {request.rounds}")
    for row in (row for row in rounds[0][0] if row in rounds[0][1]):
        ratios = sorted(after[row] / before[row] for before, after in rounds)
        ratio = statistics.median(ratios)
        slower += ratio > request.most
        print(
            f"{row[0]:<8}{row[1]:>7}  {row[2]:<24}{ratio:>15.3f}   {ratios[0]:.3f} .. {ratios[-1]:.3f}"
            + ("   SLOWER" if ratio > request.most else "")
        )
    return 1 if slower else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"compare_speed.py: {error}", file=sys.stderr)
        sys.exit(2)
