"""Provides the plots of the program's pages as Vega specifications, for notebooks and for papers.

The program writes the specification of each kind of plot, and the values of each plot (--format plots). The functions here
put these together, as its page does in a browser.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ._program import InputError, ProgramError

_MOST_CURVES = 8  # of a plot, if the caller does not choose them
_PAGE_FONT = 11  # size of labels in the specifications, in their units
FORMATS = ("svg", "pdf", "png")
# Members of every object in JavaScript. Vega uses objects as tables, in which these names have another meaning.
_RESERVED = {
    *("__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__", "__proto__", "constructor"),
    *("hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"),
}


@dataclass(frozen=True)
class Plot:
    """A plot of a report, a comparison or a board. Jupyter draws it; `specification` is what any Vega editor opens."""

    section: str
    title: str
    about: str
    kind: str  # curve, heat, dots, strip or forest
    specification: Mapping[str, Any] = field(repr=False)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Returns the plot for Jupyter: Vega, and a picture for viewers without Vega if vl-convert-python is installed."""
        spec = _in_width(self.specification, self.kind, 560)
        spec["title"] = {"text": self.title, "anchor": "start"}
        bundle: dict[str, Any] = {"application/vnd.vega.v5+json": spec, "text/plain": repr(self)}
        try:
            import vl_convert
        except ImportError:
            return bundle
        return {**bundle, "image/svg+xml": vl_convert.vega_to_svg(spec)}

    def draw(self, form: str, width: float = 5.5, font_size: float = 8) -> bytes:
        """Returns the plot as "svg", "pdf" or "png" (300 dots per inch), `width` inches wide, with labels of `font_size`
        points. Needs pip install 'posbench[figures]'."""
        import vl_convert

        points = font_size / _PAGE_FONT  # of a unit of the specification
        units = 72 * width / points
        spec = _in_width(self.specification, self.kind, units)
        excess = _width_of(vl_convert.vega_to_svg(spec)) - units
        if self.kind == "heat" and excess > 0:  # of labels beside the cells
            spec = _in_width(self.specification, self.kind, units - excess)
        spec["background"] = "white"
        if form == "png":
            return bytes(vl_convert.vega_to_png(spec, scale=points, ppi=300))
        svg = vl_convert.vega_to_svg(spec)
        if form == "pdf":
            return bytes(vl_convert.svg_to_pdf(_scaled(svg, points, "")))
        if form == "svg":
            return _scaled(svg, points, "pt").encode()
        raise InputError(f"the format is '{form}', expected one of {', '.join(FORMATS)}")


class Plots(Sequence[Plot]):
    """The plots of a page, in its order. `plots["learning"]` are those with this text in the section or title."""

    def __init__(self, plots: Iterable[Plot]):
        self._plots = list(plots)

    def __len__(self) -> int:
        return len(self._plots)

    def __iter__(self) -> Iterator[Plot]:
        return iter(self._plots)

    def __getitem__(self, key: int | slice | str) -> Any:
        if isinstance(key, int):
            return self._plots[key]
        if isinstance(key, slice):
            return Plots(self._plots[key])
        found = Plots(plot for plot in self if key.lower() in f"{plot.section} {plot.title}".lower())
        if not found:
            sections = ", ".join(f"'{section}'" for section in dict.fromkeys(plot.section for plot in self))
            raise InputError(f"no plot has '{key}' in its section or title; the sections are {sections}")
        return found

    def __repr__(self) -> str:
        return "\n".join(f"{n}. {plot.section}: {plot.title}" for n, plot in enumerate(self)) or "no plots"

    def _ipython_display_(self) -> None:
        from IPython.display import display

        for plot in self:
            display(plot)

    def save(
        self, folder: str | Path, *, formats: Sequence[str] = FORMATS, width: float = 5.5, font_size: float = 8
    ) -> list[Path]:
        """Writes each plot as a file of each format, and returns the files. `width` is that of the figures in inches, as
        the paper's line width, and `font_size` that of their labels in points. Needs pip install 'posbench[figures]'."""
        formats = [formats] if isinstance(formats, str) else formats
        _check_sizes(formats, width, font_size)
        folder, files = Path(folder), []
        folder.mkdir(parents=True, exist_ok=True)
        for n, plot in enumerate(self, 1):
            words = re.sub(r"\W+", "_", f"{plot.section} {plot.title}").strip("_").lower()
            for form in formats:
                file = folder / f"{n:02}_{words[:80]}.{form}"
                file.write_bytes(plot.draw(form, width, font_size))
                files.append(file)
        return files


def _check_sizes(formats: Sequence[str], width: float, font_size: float) -> None:
    for form in formats:
        if form not in FORMATS:
            raise InputError(f"the format is '{form}', expected one of {', '.join(FORMATS)}")
    if not 1 <= width <= 100:
        raise InputError(f"the width is {width}, expected 1 to 100 inches")
    if not 4 <= font_size <= 72:
        raise InputError(f"the font size is {font_size}, expected 4 to 72 points")
    try:
        import vl_convert  # noqa: F401
    except ImportError:
        raise ProgramError("figures need vl-convert-python; install it with pip install 'posbench[figures]'") from None


def plots_of(text: str, encodings: Sequence[str] | None = None) -> Plots:
    """Returns the plots that the program wrote with --format plots. Curves are those of the given encodings, or else of the
    first eight in the order of the page. Raises InputError for an encoding that the plots do not have."""
    written = json.loads(text)
    about, kinds, all_rows = written["page"], written["specifications"], iter(written["rows"])
    for name in encodings or ():
        if name not in about["names"]:
            raise InputError(f"there is no encoding '{name}'; the encodings are {', '.join(about['names'])}")
    shown = about["names"][:_MOST_CURVES] if encodings is None else [n for n in about["names"] if n in encodings]
    plots = []
    for section in about["sections"]:
        for plot in section["plots"]:
            rows = _rows(next(all_rows), plot["size"])
            if plot["kind"] == "curve" and about["names"]:
                rows = [row for row in rows if row[0] in shown]
            spec = specification(about, kinds[plot["kind"]], plot, rows)
            if plot["kind"] == "curve" and about["names"]:
                spec["legends"][0]["values"] = [_escape(name) for name in shown]
            plots.append(Plot(section["title"], plot["title"], plot["about"], plot["kind"], spec))
    return Plots(plots)


def _rows(columns: Sequence[Any], size: int) -> list[list[Any]]:
    """Returns the rows of a plot. The program writes columns, and of a column of texts each text once."""
    values = [c if isinstance(c, list) else [c["texts"][at] for at in c["at"]] for c in columns]
    return [[column[row] for column in values] for row in range(size)]


def specification(
    page: Mapping[str, Any], kind: Mapping[str, Any], plot: Mapping[str, Any], rows: Sequence[Sequence[Any]]
) -> dict[str, Any]:
    """Returns the specification of a plot: that of its kind, with rows and signals. It is `specification` of the page's
    plots.js, and the tests compare both."""
    spec: dict[str, Any] = copy.deepcopy(dict(kind))
    spec["description"] = ". ".join(filter(None, (plot["title"], plot["about"])))
    names = [column["name"] for column in plot["columns"]]
    for data in spec["data"]:
        if data["name"] == "table":
            data["values"] = [dict(zip(names, map(_escape, row))) for row in rows]
        if data["name"] == "levels":
            data["values"] = plot["signals"].get("levels", [])
    for signal in spec["signals"]:
        if signal["name"] in plot["signals"]:
            signal["value"] = plot["signals"][signal["name"]]
        if signal["name"] == "names":
            signal["value"] = [_escape(name) for name in page["names"]]
    if plot["kind"] == "curve" and page["names"]:
        styles = _styles(page)
        for scale in spec["scales"]:
            if scale["name"] in ("color", "shape", "dash"):
                chosen = [styles[name][scale["name"]] for name in page["names"]]
                scale["range"] = [scale["range"][number % len(scale["range"])] for number in chosen]
    return spec


def _styles(page: Mapping[str, Any]) -> dict[str, dict[str, int]]:
    """Returns the numbers of color, symbol and dash of each encoding. Encodings with the same color differ in the others."""
    counts: dict[int, int] = {}
    styles = {}
    for name in sorted(page["names"]):
        at = page["names"].index(name)
        number = page["styles"][at] if at < len(page["styles"]) else at
        variant = counts.get(number, 0)
        counts[number] = variant + 1
        styles[name] = {"color": number, "shape": number + variant, "dash": number + variant}
    return styles


def _escape(value: Any) -> Any:
    return value + "\u2060" if isinstance(value, str) and value in _RESERVED else value


def _in_width(specification: Mapping[str, Any], kind: str, width: float) -> dict[str, Any]:
    """Returns a specification for a figure of this width, in its units, with a theme for paper."""
    spec = copy.deepcopy(dict(specification))
    labels = {"labelFontSize": _PAGE_FONT, "titleFontSize": _PAGE_FONT, "titleFontWeight": "normal"}
    spec["config"] = {"font": "Arial, Liberation Sans, Helvetica, sans-serif", "axis": labels, "legend": labels}
    if kind != "heat":
        spec["width"] = round(width)
        for axis in spec["axes"]:
            if axis["orient"] == "left" and "labelLimit" in axis:
                axis["labelLimit"] = min(axis["labelLimit"], 0.4 * width)
        longest = max(
            (len(str(value)) for legend in spec["legends"] for value in legend.get("values") or ()), default=0
        )
        for legend in spec["legends"]:
            if "columns" in legend and longest:
                legend["columns"] = max(1, int(width / (45 + 6 * longest)))
        return spec
    rows = next(data["values"] for data in spec["data"] if data["name"] == "table")
    columns, names = {row["column"] for row in rows}, {str(row["row"]) for row in rows}
    cell = (width - 30 - min(150, 6 * max(map(len, names), default=0))) / max(1, len(columns))
    is_large = len(columns) > 24 or len(names) > 100 or "text" not in (rows[0] if rows else {})
    has_texts = cell >= 34 and not is_large
    values = {
        "cell": max(34, min(64, cell)) if has_texts else max(2, min(64, cell)),
        "row_height": 28 if has_texts else max(2, min(14, cell)) if is_large else 15,
        "texts": has_texts,
    }
    for signal in spec["signals"]:
        signal["value"] = values.get(signal["name"], signal.get("value"))
        if signal["value"] is None:
            del signal["value"]
    if has_texts:
        spec.pop("legends", None)  # the cells have the values as text
    else:
        next(axis for axis in spec["axes"] if axis["orient"] == "top")["labelAngle"] = -90
    return spec


_SIZE = re.compile(r'\b(width|height)="([\d.]+)"')


def _width_of(svg: str) -> float:
    return float(dict(_SIZE.findall(svg[: svg.index(">")]))["width"])


def _scaled(svg: str, scale: float, unit: str) -> str:
    """Multiplies the size of an SVG, and states its unit."""
    end = svg.index(">")
    return _SIZE.sub(lambda size: f'{size[1]}="{float(size[2]) * scale:.2f}{unit}"', svg[:end]) + svg[end:]
