"""Checks that pdflatex accepts a table with every printable ASCII character.

latex_test.py RESULTS_TESTS

Exit code 77: skipped, no pdflatex or no package booktabs.
"""

import os
import shutil
import subprocess
import sys
import tempfile


def missing_tool():
    """Returns the tool that the test lacks, and the package that has it."""
    if not shutil.which("pdflatex"):
        return "no pdflatex (package texlive-latex-base)"
    if shutil.which("kpsewhich") and subprocess.run(["kpsewhich", "booktabs.sty"], capture_output=True).returncode:
        return "no booktabs (package texlive-latex-recommended)"
    return None


def main(results_tests):
    missing = missing_tool()
    if missing:
        print(f"skipped: {missing}")
        return 77
    with tempfile.TemporaryDirectory() as directory:
        document = os.path.join(directory, "t.tex")
        subprocess.run(
            [results_tests, "[.write_latex]"],
            env={**os.environ, "POSBENCH_WRITE_LATEX": document},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        done = subprocess.run(
            ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
            cwd=directory,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
        )
        written = os.path.exists(os.path.join(directory, "t.pdf"))
    if done.returncode or not written:
        print(done.stdout.decode(errors="replace")[-2000:])
        return 1
    print("pdflatex accepts the table")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
