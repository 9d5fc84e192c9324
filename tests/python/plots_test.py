"""Tests plots, figures and the display of reports in Jupyter.

plots_test.py PROGRAM                 the specifications are those of the page, and tables display
plots_test.py PROGRAM vl_convert      figures; skipped if vl-convert-python is missing
plots_test.py PROGRAM nbclient        docs/notebook.ipynb runs; skipped if nbclient or ipykernel is missing
"""

import importlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

from checks import raised

try:
    import numpy  # noqa: F401

    for library in {"nbclient": ("nbclient", "ipykernel")}.get("".join(sys.argv[2:3]), sys.argv[2:3]):
        importlib.import_module(library)
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
os.environ.update(POSBENCH_PROGRAM=str(Path(sys.argv[1]).resolve()), PYTHONPATH=str(ROOT / "python"))
sys.path.insert(0, str(ROOT / "python"))

import posbench  # noqa: E402
from posbench.plots import _rows, specification  # noqa: E402

WORK = tempfile.TemporaryDirectory(prefix="posbench-plots-")
FOLDER = Path(WORK.name)
REFERENCE = posbench.Report.load(ROOT / "results/data/reference/report.json")


def all_specifications(written):
    """Returns the specifications of all plots, with all of their rows."""
    about, kinds = written["page"], written["specifications"]
    plots = [plot for section in about["sections"] for plot in section["plots"]]
    return [
        specification(about, kinds[plot["kind"]], plot, _rows(rows, plot["size"]))
        for plot, rows in zip(plots, written["rows"])
        if plot["kind"] in kinds
    ]


def renamed(report, names):
    """Returns a report with other names of encodings."""
    text = json.dumps(report.data)
    for old, new in names.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    return posbench.Report(json.loads(text))


def test_specifications_are_those_of_the_page():
    node = shutil.which("node")
    if not node:
        print("not compared without node: specifications with those of the page")
        return
    special = renamed(REFERENCE, {"rope": "toString", "cope": "rope:base=500", "alibi": "rope:base=100"})
    pages = {
        "report": posbench.View("report", [special.data]),
        "compare": posbench.compare(REFERENCE, special, match={"rope": "rope:base=500"}),
        "board": posbench.board(tasks=["flip_flop"]),
    }
    for name, page in pages.items():
        path, written = FOLDER / f"{name}.json", json.loads(page.write("plots"))
        rows = {f"rows{n}": json.dumps(columns) for n, columns in enumerate(written.pop("rows"))}
        path.write_text(json.dumps({key: json.dumps(value) for key, value in written.items()} | rows))
        written["rows"] = [json.loads(columns) for columns in rows.values()]
        scripts = [ROOT / "results/document/page" / file for file in ("state.js", "plots.js")]
        command = [node, ROOT / "tests/python/plots.js", path, *scripts]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        expected, found = json.loads(done.stdout), all_specifications(written)
        assert len(found) == len(expected) > 0
        for one, other in zip(found, expected):
            assert one == other, (name, one["description"])


def test_plots_are_selected_by_section_and_encoding():
    plots = REFERENCE.plots()
    curves = plots["learning curves"]
    assert {plot.section for plot in curves} == {"Learning curves"} and curves[0].kind == "curve"
    few = REFERENCE.plots(["rope", "cope"])["learning curves"][0].specification
    [values] = [data["values"] for data in few["data"] if data["name"] == "table"]
    assert {row["name"] for row in values} == {"rope", "cope"}
    assert sorted(few["legends"][0]["values"]) == ["cope", "rope"]
    assert "no plot has 'x y z'" in raised(posbench.InputError, plots.__getitem__, "x y z")
    assert "no encoding 'rop'" in raised(posbench.InputError, REFERENCE.plots, ["rop"])
    many = renamed(REFERENCE, {"rope": "a"}).plots()
    assert len(many) == len(plots)


def test_jupyter_gets_tables_and_vega():
    shown = [REFERENCE, posbench.compare(REFERENCE, REFERENCE), posbench.board(tasks=["flip_flop"], encodings=["rope"])]
    for value in shown:
        bundle = value._repr_mimebundle_()
        assert re.search(r"^\| :-- ", bundle["text/markdown"], re.M), bundle["text/markdown"]
        assert bundle["text/plain"]
    bundle = REFERENCE.plots()[0]._repr_mimebundle_()
    spec = bundle["application/vnd.vega.v5+json"]
    assert spec["title"]["text"] == REFERENCE.plots()[0].title and "v5" in spec["$schema"]
    json.dumps(spec, allow_nan=False)
    assert "Learning curves: flip_flop" in repr(REFERENCE.plots()["learning"])
    assert "difference" in str(shown[1]) and posbench.table(REFERENCE) == str(REFERENCE)


def test_bad_arguments_are_refused():
    assert "did you mean 'flip_flop'" in raised(posbench.InputError, posbench.board, tasks=["flipflop"])
    assert "metric" in raised(posbench.InputError, posbench.compare, REFERENCE, REFERENCE, metric="x")
    raised(posbench.InputError, posbench.compare, REFERENCE, FOLDER / "missing.json")


def figures(*arguments):
    command = [sys.executable, "-m", "posbench.figures", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def pdf_size(data):
    [box] = re.findall(rb"/MediaBox \[([\d. ]+)\]", data)
    return [float(number) for number in box.split()[2:]]


def test_vl_convert_figures_have_the_paper_s_width():
    kinds = {plot.kind: plot for plot in REFERENCE.plots()}
    kinds.update((plot.kind, plot) for plot in posbench.compare(REFERENCE, REFERENCE).plots())
    kinds.update((plot.kind, plot) for plot in posbench.board(tasks=["flip_flop"], encodings=["r*"]).plots())
    assert set(kinds) == {"curve", "heat", "dots", "strip", "forest"}
    for width, font_size in ((5.5, 8), (3.25, 7)):
        for kind, plot in kinds.items():
            svg = plot.draw("svg", width, font_size).decode()
            points, height = (float(re.search(rf'\b{name}="([\d.]+)pt"', svg)[1]) for name in ("width", "height"))
            units = [float(number) for number in re.search(r'viewBox="([\d. ]+)"', svg)[1].split()[2:]]
            assert abs(points / units[0] - font_size / 11) < 0.01, (kind, points, units)
            assert points <= 72 * width + 1 and (kind == "heat" or points >= 72 * width - 2), (kind, points)
            assert 'font-size="11px"' in svg, kind
            assert all(abs(a - b) < 1 for a, b in zip(pdf_size(plot.draw("pdf", width, font_size)), (points, height)))
            png = plot.draw("png", width, font_size)
            assert png.startswith(b"\x89PNG")
            assert abs(struct.unpack(">I", png[16:20])[0] / 300 * 72 - points) < 2, kind


def test_vl_convert_command_writes_every_format():
    path = ROOT / "results/data/reference/report.json"
    done = figures(path, "-o", FOLDER / "figures", "--plots", "ranking", "--width", 3.25, "--formats", "pdf,png,svg")
    files = sorted(FOLDER.glob("figures/*"))
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == [str(file) for file in files], done.stdout
    assert [file.name for file in files] == [f"01_ranking_mean_rank.{form}" for form in ("pdf", "png", "svg")]
    done = figures(path, "-o", FOLDER / "few", "-t", "flip_flop,counting", "-e", "rope,alibi")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 2 and all(file.endswith(".pdf") for file in done.stdout.split()), done.stdout
    for arguments, said in (
        (["--plots", "x y z"], "no plot has 'x y z'"),
        (["--formats", "svg,gif"], "'gif', expected one of svg, pdf, png"),
        (["--width", "0"], "expected 1 to 100 inches"),
        (["-e", "rop"], "rop"),
    ):
        done = figures(path, "-o", FOLDER / "none", *arguments)
        assert done.returncode == 2 and said in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not (FOLDER / "none").exists()


def test_nbclient_runs_the_notebook():
    import nbclient
    import nbformat

    notebook = nbformat.read(ROOT / "docs/notebook.ipynb", as_version=4)
    stored = [cell.source for cell in notebook.cells]
    nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": FOLDER}}).execute()
    nbformat.validate(notebook)
    found = {kind for cell in notebook.cells for output in cell.get("outputs", ()) for kind in output.get("data", {})}
    assert {"text/markdown", "application/vnd.vega.v5+json", "text/plain"} <= found, found
    tables = [
        o.data["text/markdown"]
        for c in notebook.cells
        for o in c.get("outputs", ())
        if "text/markdown" in o.get("data", {})
    ]
    assert len(tables) >= 3 and all("| :-- " in table for table in tables)
    assert stored == [cell.source for cell in notebook.cells]


CHOSEN = sys.argv[2] if len(sys.argv) > 2 else None
for name, test in list(globals().items()):
    library = next((word for word in ("vl_convert", "nbclient") if name.startswith(f"test_{word}")), None)
    if name.startswith("test_") and library == CHOSEN:
        test()
        print(f"passed: {name}", flush=True)
