// Draws plots: for each the specification of its kind with its own values, a table of the same values, and both as text.
// A plot's rows are parsed, and it is drawn, when it comes near the window.
const most_rows = 100, most_table_rows = 1000;
const dark = matchMedia("(prefers-color-scheme: dark)");
const plots = [], problems = [];
let first = null;  // when the first plot was drawn, in milliseconds after the page was opened

/// Rows come as columns; one with texts has each text once.
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

/// Vega keeps groups in plain objects, where the name "__proto__" would be taken for what it means there.
const harmless = value => typeof value === "string" && value in {} ? value + "\u2060" : value;
const records = (plot, rows) => rows.map(row => Object.fromEntries(plot.columns.map((column, i) => [column.name, harmless(row[i])])));

/// The specification with values and signals of a plot: complete, as a reader takes it elsewhere.
function specification(plot, rows) {
  const spec = structuredClone(specifications[plot.kind]);
  spec.description = [plot.title, plot.about].filter(Boolean).join(". ");
  spec.data.find(data => data.name === "table").values = records(plot, rows);
  const levels = spec.data.find(data => data.name === "levels");
  if (levels) levels.values = plot.signals.levels || [];
  for (const signal of spec.signals) {
    if (signal.name in plot.signals) signal.value = plot.signals[signal.name];
    if (signal.name === "names") signal.value = page.names.map(harmless);
  }
  return spec;
}

/// The rows that are drawn: those that the filters leave, in the chosen order; of curves, the chosen ones.
function drawn_rows(plot) {
  if (plot.kind === "curve") {
    const shown = shown_curves();
    return plot.rows.filter(row => shown.has(row[0]) && left.cell(row[0], plot.details.task));
  }
  if (!page.names.length || plot.details.phase) return plot.rows;
  if (plot.kind === "strip") return plot.rows.filter(row => left.cell(row[0], plot.details.task)).slice(0, most_rows);
  const is_map = plot.details.cells, by_name = new Map();
  for (const row of plot.rows) {
    if (is_map ? !left.cell(row[0], row[1]) : !left.encodings.has(row[0])) continue;
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

/// Cells as large as the room allows: with their values in them, or, where tasks are many, with colours alone.
function fit_cells(spec, plot, room, rows) {
  const signal = name => spec.signals.find(signal => signal.name === name);
  const columns = Math.max(1, new Set(rows.map(row => row[1])).size);
  signal("ink").value = color("--text");
  if (!plot.details.cells && !plot.details.phase) {
    signal("cell").value = signal("row_height").value = Math.max(3, Math.min(14, Math.floor((room - 90) / columns)));
    return;
  }
  const fits = Math.floor((room - 160) / columns);
  signal("texts").value = fits >= 34 || columns <= 12;
  signal("cell").value = signal("texts").value ? Math.max(34, Math.min(64, fits)) : Math.max(10, fits);
  signal("row_height").value = signal("texts").value ? 28 : 15;
  if (signal("texts").value) delete spec.legends;  // the cells have the values as text
}

const room_of = plot => Math.max(200, plot.view_node.clientWidth - 4);
async function draw(plot) {
  const room = room_of(plot), rows = drawn_rows(plot);
  plot.drawn = room;
  const spec = specification(plot, rows);
  if (plot.kind === "curve") delete spec.legends;  // the chooser is one for all
  if (plot.kind === "heat") fit_cells(spec, plot, room, rows); else spec.width = room;
  try {
    if (plot.view) plot.view.finalize();
    const runtime = vega.parse(spec, theme(), {ast: true});
    plot.view = new vega.View(runtime, {expr: vega.expressionInterpreter, renderer: "svg", container: plot.view_node, hover: true});
    if (plot.details.cells) {
      plot.view.addEventListener("click", (event, item) => item?.datum?.row && open_cell(item.datum.row, item.datum.column));
    }
    await plot.view.runAsync();
    first ??= performance.now();
  } catch (error) {
    problems.push(`${plot.title}: ${error}`);
    console.error(plot.title, error);
  }
}

const near = [];  // plots to draw, one after the other, so that the first is soon there
let drawing = false;
async function draw_near() {
  if (drawing) return;
  drawing = true;
  for (let plot; (plot = near.shift()); await new Promise(resolve => setTimeout(resolve))) {
    if (!plot.drawn) await draw(plot);
  }
  drawing = false;
}
const seen = new IntersectionObserver(entries => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    seen.unobserve(entry.target);
    near.push(entry.target.plot);
  }
  draw_near();
}, {rootMargin: "600px"});
const draw_all = () => Promise.all(plots.filter(plot => plot.view_node && !plot.drawn && !plot.node.hidden).map(draw));

const is_left = ({phase, task, encodings}) => phase ? encodings.some(name => left.cell(name, task)) : !task || left.tasks.has(task);

/// Draws plots again, those out of sight when they come near.
function redraw(wanted) {
  for (const plot of plots.filter(plot => plot.view_node)) {
    plot.node.hidden = !is_left(plot.details);
    if (!plot.drawn || !wanted(plot)) continue;
    plot.drawn = 0;
    seen.observe(plot.node);
  }
}

const text_of = value => value === null ? "" : Array.isArray(value) ? value.join(" ") : String(value);

function table(plot) {
  const rows = plot.rows.slice(0, most_table_rows);
  const numeric = plot.columns.map((_, i) => rows.some(row => typeof row[i] === "number"));
  const cell = (tag, child, i, scope) => element(tag, {...(numeric[i] && {class: "number"}), ...(scope && {scope})}, child);
  const head = element("tr", {}, ...plot.columns.map((column, i) => cell("th", column.title, i, "col")));
  const body = element("tbody");
  for (const row of rows) {
    const link = plot.details.cells && button(text_of(row[0]), () => open_cell(row[0], row[1]));
    body.append(element("tr", {}, ...row.map((value, i) => i ? cell("td", text_of(value), i) : cell("th", link || text_of(value), i, "row"))));
  }
  return element("table", {"aria-label": plot.title}, element("thead", {}, head), body);
}

const csv_field = text => {
  const safe = /^[=+\-@\t\r]/.test(text) && !Number.isFinite(Number(text)) ? "'" + text : text;
  return /[",\r\n]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
};
const csv = plot => [plot.columns.map(column => column.name), ...plot.rows]
  .map(row => row.map(value => csv_field(text_of(value))).join(",") + "\r\n").join("");

function save(name, text, type) {
  const link = element("a", {download: name, href: URL.createObjectURL(new Blob([text], {type}))});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/// A part that is made when it is first opened.
function folded(summary, make) {
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
  if (!(plot.kind in specifications)) {
    node.append(...(plot.size > 50 ? [folded(`Table (${plot.size} rows)`, whole_table)] : whole_table()));
    return node;
  }
  plot.view_node = element("div", {class: "view", tabindex: 0, role: "group", "aria-labelledby": id, "aria-describedby": `${id}about`});
  const spec_text = () => JSON.stringify(specification(plot, plot.rows), null, 1);
  node.append(plot.view_node,
    ...(page.names.length > most_rows && plot.kind !== "curve" ? [element("p", {class: "note"}, `Drawn are the first ${most_rows} ${page.things}; the filter above finds others, and the table has all.`)] : []),
    folded(`Table (${plot.size} rows)`, whole_table),
    folded("Vega specification", () => [
      scroll(`Specification: ${plot.title}`, element("pre", {}, spec_text())),
      button("Save as JSON", () => save(`${name}.vg.json`, spec_text(), "application/json"))]));
  seen.observe(node);
  return node;
}
