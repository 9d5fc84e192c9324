// Draws plots from the specification of their kind and their values. Each has a table of its values too.
// A plot is parsed and drawn when it comes near the window.
const most_rows = 100, most_table_rows = 1000;
const dark = matchMedia("(prefers-color-scheme: dark)");
const plots = [], problems = [];
let first = null;  // when the first plot was drawn, in milliseconds after the page was opened

/// Returns the rows of a plot. The page stores them as columns; a column of texts stores each text once.
function parse_rows(plot) {
  const columns = json(`rows${plot.number}`).map(column => Array.isArray(column) ? column : column.at.map(i => column.texts[i]));
  return Array.from({length: plot.size}, (_, i) => columns.map(column => column[i]));
}
function with_rows(plot, number) {
  let rows = null;
  plot.number = number;
  Object.defineProperty(plot, "rows", {get: () => rows ??= parse_rows(plot)});
  return plot;
}

/// Vega stores groups in plain objects, in which the name "__proto__" has another meaning. A word joiner avoids that.
const escape_reserved = value => typeof value === "string" && value in {} ? value + "\u2060" : value;
const records = (plot, rows) => rows.map(row => Object.fromEntries(plot.columns.map((column, i) => [column.name, escape_reserved(row[i])])));

/// Returns a function that maps a name to its entry in the range of a scale of curve.json: "color", "shape" or "dash".
function style_range(property) {
  const range = specifications.curve.scales.find(scale => scale.name === property).range;
  return name => range[styles.get(name)[property] % range.length];
}

/// Returns the complete specification of a plot, with its values and signals, as the reader can save it.
function specification(plot, rows) {
  const spec = structuredClone(specifications[plot.kind]);
  spec.description = [plot.title, plot.about].filter(Boolean).join(". ");
  spec.data.find(data => data.name === "table").values = records(plot, rows);
  const levels = spec.data.find(data => data.name === "levels");
  if (levels) levels.values = rows.length && plot.signals.levels || [];
  for (const signal of spec.signals) {
    if (signal.name in plot.signals) signal.value = plot.signals[signal.name];
    if (signal.name === "trained" && !rows.length) signal.value = [];
    if (signal.name === "names") signal.value = page.names.map(escape_reserved);
  }
  if (plot.kind === "curve" && page.names.length) {
    for (const scale of spec.scales.filter(scale => ["color", "shape", "dash"].includes(scale.name))) {
      scale.range = page.names.map(style_range(scale.name));
    }
  }
  return spec;
}

/// Returns the rows to draw: those that the filters select, in the chosen order; of curves, only the chosen encodings.
function drawn_rows(plot) {
  if (plot.kind === "curve") {
    const shown = shown_curves();
    return plot.rows.filter(row => shown.has(row[0]) && selection.cell(row[0], plot.details.task));
  }
  if (!page.names.length || plot.details.phase || plot.details.pairs) return plot.rows;
  if (plot.kind === "strip") return plot.rows.filter(row => selection.cell(row[0], plot.details.task)).slice(0, most_rows);
  const is_map = plot.details.cells, by_name = new Map();
  for (const row of plot.rows) {
    if (is_map ? !selection.cell(row[0], row[1]) : !selection.encodings.has(row[0])) continue;
    if (!by_name.has(row[0])) by_name.set(row[0], []);
    by_name.get(row[0]).push(row);
  }
  const value_of = (name, task) => by_name.get(name).find(row => row[1] === task)?.[2];
  return sorted(by_name.keys(), is_map && value_of).slice(0, most_rows).flatMap(name => by_name.get(name));
}

const color = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
function theme() {
  const words = {labelColor: color("--text"), titleColor: color("--text"), titleFontWeight: "normal", labelFontSize: 11, titleFontSize: 12};
  return {background: null, font: "system-ui, sans-serif",
          axis: {...words, domainColor: color("--faint"), tickColor: color("--faint"), gridColor: color("--line")},
          legend: words};
}

/// Makes cells as large as the width allows. They show their values, or only colors if there are many tasks.
function set_cell_sizes(spec, plot, width, rows) {
  const signal = name => spec.signals.find(signal => signal.name === name);
  const columns = Math.max(1, new Set(rows.map(row => row[1])).size);
  signal("text_color").value = color("--text");
  if (!plot.details.cells && !plot.details.phase) {
    signal("cell").value = signal("row_height").value = Math.max(3, Math.min(14, Math.floor((width - 90) / columns)));
    return;
  }
  const fitting = Math.floor((width - 160) / columns);
  signal("texts").value = fitting >= 34 || columns <= 12;
  signal("cell").value = signal("texts").value ? Math.max(34, Math.min(64, fitting)) : Math.max(10, fitting);
  signal("row_height").value = signal("texts").value ? 28 : 15;
  if (!signal("texts").value || width < 480) spec.axes.find(axis => axis.orient === "top").labelAngle = -90;  // sloping labels would overlap or be cut off
  if (signal("texts").value) delete spec.legends;  // the cells have the values as text
}

/// Sets the width of a plot, and leaves at least half of it to the values.
function set_width(spec, width) {
  spec.width = width;
  const text_color = spec.signals.find(signal => signal.name === "text_color");
  if (text_color) text_color.value = color("--faint");
  for (const axis of spec.axes.filter(axis => axis.orient === "left" && axis.labelLimit)) axis.labelLimit = Math.min(axis.labelLimit, width * 0.4);
  const has_long_names = spec.data.find(data => data.name === "table").values.some(row => row.series?.length > 15);
  for (const legend of spec.legends || []) if (width < 420 && legend.columns) legend.columns = has_long_names ? 1 : 2;
}

const plot_width = plot => Math.max(200, plot.view_node.clientWidth - 4);
async function draw(plot) {
  const width = plot_width(plot), rows = drawn_rows(plot);
  plot.drawn = width;
  const spec = specification(plot, rows);
  if (plot.kind === "curve") delete spec.legends;  // the bar at the top has the legend of all plots
  if (plot.kind === "heat") set_cell_sizes(spec, plot, width, rows); else set_width(spec, width);
  try {
    if (plot.view) plot.view.finalize();
    const runtime = vega.parse(spec, theme(), {ast: true});
    plot.view = new vega.View(runtime, {expr: vega.expressionInterpreter, renderer: "svg", container: plot.view_node, hover: true});
    if (plot.signals.addresses) {
      plot.view.addEventListener("click", (event, item) => {
        const address = plot.signals.addresses[item?.datum?.row];
        if (address) location.href = address;
      });
    }
    await plot.view.runAsync();
    first ??= performance.now();
  } catch (error) {
    problems.push(`${plot.title}: ${error}`);
    console.error(plot.title, error);
  }
}

const draw_queue = [];  // plots to draw, one after the other, so that the first appears soon
let drawing = false;
let target = null;  // the node that the reader opened, until the reader scrolls
for (const event of ["wheel", "touchmove", "keydown", "pointerdown"]) addEventListener(event, () => target = null, {passive: true});

/// Scrolls to a node, and again when plots above it have been drawn.
function scroll_to(node) {
  target = node;
  node.scrollIntoView();
}
async function draw_queued() {
  if (drawing) return;
  drawing = true;
  for (let plot; (plot = draw_queue.shift()); await new Promise(resolve => setTimeout(resolve))) {
    if (!plot.drawn) await draw(plot);
  }
  drawing = false;
  target?.scrollIntoView();
}
const visibility = new IntersectionObserver(entries => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    visibility.unobserve(entry.target);
    draw_queue.push(entry.target.plot);
  }
  draw_queued();
}, {rootMargin: "600px"});
const draw_all = () => Promise.all(plots.filter(plot => !plot.drawn && !plot.node.closest("[hidden]")).map(draw));

/// Returns true if the filters select values of a plot.
function is_selected({phase, task, encodings}) {
  if (task && task !== state.open && page.sections.some(section => section.is_screen)) return false;
  if (phase) return encodings.some(name => selection.cell(name, task));
  if (page.names.length && !selection.encodings.size) return false;
  return !task || selection.tasks.has(task);
}

/// Hides the headings and links of sections without plots. The summary of the board has the links to its tasks.
function hide_empty_sections() {
  for (const section of page.sections) {
    section.node.hidden = section.plots.every(plot => plot.node.hidden);
    section.item.hidden = section.node.hidden || section.is_screen;
  }
}

/// Draws plots again. Plots outside of the window are drawn when they come near.
function redraw(should_draw) {
  for (const plot of plots) {
    plot.node.hidden = !is_selected(plot.details);
    if (!plot.drawn || !should_draw(plot)) continue;
    plot.drawn = 0;
    visibility.observe(plot.node);
  }
  hide_empty_sections();
}

const text_of = value => value === null ? "" : Array.isArray(value) ? value.join(" ") : String(value);

function table(plot) {
  const rows = plot.rows.slice(0, most_table_rows);
  const numeric = plot.columns.map((_, i) => rows.some(row => typeof row[i] === "number"));
  const cell = (tag, child, i, scope) => element(tag, {...(numeric[i] && {class: "number"}), ...(scope && {scope})}, child);
  const head = element("tr", {}, ...plot.columns.map((column, i) => cell("th", column.title, i, "col")));
  const body = rows.map(row => element("tr", {}, ...row.map((value, i) => i ? cell("td", text_of(value), i) : cell("th", text_of(value), i, "row"))));
  return element("table", {"aria-label": plot.title}, element("thead", {}, head), element("tbody", {}, ...body));
}

const csv_field = text => {
  const safe = /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? "'" + text : text;
  return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
};
const csv = plot => [plot.columns.map(column => column.name), ...plot.rows]
  .map(row => row.map(value => csv_field(text_of(value))).join(",") + "\r\n").join("");

function save(name, content, type) {
  const link = element("a", {download: name, href: URL.createObjectURL(new Blob([content], {type}))});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/// Returns a view of a plot as it is shown, with title, legend and background, so that it can be saved.
async function picture(plot) {
  const rows = drawn_rows(plot), spec = specification(plot, rows);
  if (plot.kind === "heat") set_cell_sizes(spec, plot, plot.drawn, rows); else set_width(spec, plot.drawn);
  if (plot.kind === "curve") spec.legends[0].values = [...shown_curves()].map(escape_reserved);
  spec.title = {text: plot.title, color: color("--text"), anchor: "start"};
  const runtime = vega.parse(spec, {...theme(), background: color("--paper")}, {ast: true});
  return new vega.View(runtime, {expr: vega.expressionInterpreter, renderer: "none"}).runAsync();
}

async function save_picture(plot, name, type) {
  const view = await picture(plot);
  if (type === "svg") return save(`${name}.svg`, await view.toSVG(), "image/svg+xml");
  const canvas = await view.toCanvas(2);  // twice the resolution of the screen
  canvas.toBlob(blob => save(`${name}.png`, blob, "image/png"));
}

/// Returns a <details> element whose content is made when it is first opened.
function collapsible(summary, make) {
  const details = element("details", {}, element("summary", {}, summary));
  details.addEventListener("toggle", () => details.open && details.children.length === 1 && details.append(...make()));
  return details;
}

function figure(plot) {
  const id = `plot${plots.push(plot)}`, name = plot.title.replace(/[^\w]+/g, "_");
  const node = element("figure", {class: plot.kind, "aria-labelledby": id},
                       element("figcaption", {}, element("h3", {id}, plot.title), element("p", {id: `${id}about`}, plot.about)));
  node.plot = plot;
  plot.node = node;
  const scroll = (label, child) => element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label}, child);
  const whole_table = () => [scroll(`Table: ${plot.title}`, table(plot)),
                             ...(plot.size > most_table_rows ? [element("p", {class: "note"}, `The first ${most_table_rows} rows; the CSV has all ${plot.size}.`)] : []),
                             button("Save as CSV", () => save(`${name}.csv`, csv(plot), "text/csv"))];
  plot.view_node = element("div", {class: "view", tabindex: 0, role: "group", "aria-labelledby": id, "aria-describedby": `${id}about`});
  const spec_text = () => JSON.stringify(specification(plot, plot.rows), null, 1);
  node.append(plot.view_node,
    element("div", {class: "save"}, ...["SVG", "PNG"].map(type => button(`Save as ${type}`, () => save_picture(plot, name, type.toLowerCase())))),
    ...(page.names.length > most_rows && plot.kind !== "curve" && !plot.details.pairs ? [element("p", {class: "note"}, `The plot has the first ${most_rows} ${page.item_plural}; the filter above finds others, and the table has all.`)] : []),
    collapsible(`Table (${plot.size} ${plot.size === 1 ? "row" : "rows"})`, whole_table),
    collapsible("Vega specification", () => [
      scroll(`Specification: ${plot.title}`, element("pre", {}, spec_text())),
      button("Save as JSON", () => save(`${name}.vg.json`, spec_text(), "application/json"))]));
  visibility.observe(node);
  return node;
}
