#!/usr/bin/env python3
"""Renews the tables of a page that posbench prints: each block between a line `<!-- posbench ... -->` and the line
`<!-- end -->` becomes what this command prints, run in the repository.

    scripts/renew_docs.py build/release/posbench docs/findings.md
    scripts/renew_docs.py --check build/release/posbench docs/findings.md    # changes nothing; exit code 1 if one differs
"""

import argparse
import difflib
import pathlib
import re
import shlex
import subprocess
import sys

BLOCK = re.compile(r"(^<!-- posbench ([^\n]*) -->\n)(.*?)(^<!-- end -->$)", re.MULTILINE | re.DOTALL)


def printed(program, arguments):
    root = pathlib.Path(__file__).resolve().parent.parent
    done = subprocess.run(
        [program, *shlex.split(arguments)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):  # 1: the answer is no, as that of compare may be
        raise RuntimeError(f"'posbench {arguments}' ends with {done.returncode}: {done.stderr.strip()}")
    return done.stdout.rstrip("\n") + "\n"


def renewed(text, program):
    return BLOCK.sub(lambda block: f"{block[1]}\n{printed(program, block[2])}\n{block[4]}", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare only")
    parser.add_argument("program", type=pathlib.Path, help="the program posbench")
    parser.add_argument("pages", type=pathlib.Path, nargs="+", help="Markdown files")
    request = parser.parse_args()
    current = True
    for page in request.pages:
        before = page.read_text(encoding="utf-8")
        if not BLOCK.search(before):
            raise RuntimeError(f"{page} has no block '<!-- posbench ... -->'")
        after = renewed(before, request.program.resolve())
        if request.check and after != before:
            current = False
            sys.stdout.writelines(
                difflib.unified_diff(
                    before.splitlines(True), after.splitlines(True), f"{page}", f"{page}, renewed", n=0
                )
            )
            print(f"{page} is not current; renew it: scripts/renew_docs.py {request.program} {page}")
        elif not request.check and after != before:
            page.write_text(after, encoding="utf-8")
    return 0 if current else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, RuntimeError) as error:
        print(f"renew_docs.py: {error}", file=sys.stderr)
        sys.exit(2)
