#!/usr/bin/env python3
"""Compares the speed of two builds of posbench.

Runs `posbench bench` of both builds in turn, several times, and compares the median time of a training step for each
size and encoding as a ratio, so that other load of the machine affects both equally. With --fastest it compares the
fastest steps of all rounds, which other work of the machine changes least. Exit code 1 where the second build is slower
by more than --most in any row.

    scripts/compare_speed.py build/before/posbench build/release/posbench -e none,cope,dape --sizes quick,che
    scripts/compare_speed.py build/release/posbench build/release/posbench --isa v3,v4     one build, with and without AVX-512
"""

import argparse
import json
import os
import statistics
import subprocess
import sys


def seconds(program, instruction_set, arguments, of):
    """Seconds of a training step by (size, length, encoding), in one run of the program's benchmark: their median or min."""
    environment = {**os.environ, "POSBENCH_ISA": instruction_set} if instruction_set else None
    output = subprocess.run(
        [program, "bench", "--json", *arguments],
        check=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    ).stdout
    return {
        (row["size"], row["length"], row["encoding"]): row["spread"]["step_seconds"][of]
        for row in json.loads(output)["benchmarks"]
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="a posbench program")
    parser.add_argument("after", help="another one")
    parser.add_argument("-e", "--encodings", default="none,alibi,rope,shaw_k,cope,dape")
    parser.add_argument("--sizes", default="quick,che")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each build, alternating")
    parser.add_argument("--isa", default=",", metavar="BEFORE,AFTER", help="instruction sets, if they differ")
    parser.add_argument("--fastest", action="store_true", help="compare the fastest steps of all rounds")
    parser.add_argument("--most", type=float, default=1.05, help="largest ratio of times that passes")
    request = parser.parse_args()
    arguments = ["-e", request.encodings, "--sizes", request.sizes, "--repetitions", "3"]
    isa_before, isa_after = request.isa.split(",")
    of = "min" if request.fastest else "median"
    rounds = [
        (seconds(request.before, isa_before, arguments, of), seconds(request.after, isa_after, arguments, of))
        for _ in range(request.rounds)
    ]
    slower = 0
    print(f"{'size':<8}{'length':>7}  {'encoding':<24}{'after / before':>15}   lowest .. highest of {request.rounds}")
    for row in rounds[0][0]:
        ratios = sorted(after[row] / before[row] for before, after in rounds)
        ratio = statistics.median(ratios)
        if request.fastest:
            ratio = min(after[row] for _, after in rounds) / min(before[row] for before, _ in rounds)
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
