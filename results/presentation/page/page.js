// Draws the page from its data: for each plot the specification of its kind, with its own values, a table of the same
// values, and both as text. Texts from reports reach the document as text nodes only.
"use strict";
(() => {
  const json = id => JSON.parse(document.getElementById(id).textContent);
  const page = json("page"), specifications = json("specifications");
  const most_rows = 100, most_curves = 8;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const chosen = new Set(page.names.slice(0, most_curves));
  const plots = [], problems = [];

  function element(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.append(...children);
    return node;
  }

  /// Vega keeps groups in plain objects, where the name "__proto__" would be taken for what it means there.
  const harmless = value => typeof value === "string" && value in {} ? value + "\u2060" : value;
  const records = (plot, rows) => rows.map(row => Object.fromEntries(plot.columns.map((column, i) => [column.name, harmless(row[i])])));

  /// The specification with values and signals of a plot: complete, as a reader takes it elsewhere.
  function specification(plot, rows) {
    const spec = structuredClone(specifications[plot.kind]);
    spec.description = [plot.title, plot.about].filter(Boolean).join(". ");
    spec.data.find(data => data.name === "table").values = records(plot, rows);
    for (const signal of spec.signals) {
      if (signal.name in plot.signals) signal.value = plot.signals[signal.name];
      if (signal.name === "names") signal.value = signal.value.map(harmless);
    }
    return spec;
  }

  /// The rows that are drawn: of the chosen encodings where there are curves, and no more of a map than can be read.
  function drawn_rows(plot) {
    if (plot.kind === "curve") return plot.rows.filter(row => chosen.has(row[0]));
    const shown = new Set();
    if (plot.signals.labels === false) return plot.rows;
    return plot.rows.filter(row => shown.has(row[0]) || (shown.size < most_rows && shown.add(row[0])));
  }

  function theme() {
    const style = getComputedStyle(document.documentElement), color = name => style.getPropertyValue(name).trim();
    const words = {labelColor: color("--text"), titleColor: color("--text"), titleFontWeight: "normal", labelFontSize: 11, titleFontSize: 12};
    return {background: null, font: "system-ui, sans-serif",
            axis: {...words, domainColor: color("--faint"), tickColor: color("--faint"), gridColor: color("--line")},
            legend: words};
  }

  async function draw(plot) {
    const room = Math.max(200, plot.view_node.clientWidth - 4), rows = drawn_rows(plot);
    plot.drawn = room;
    const spec = specification(plot, rows);
    if (plot.kind === "curve") delete spec.legends;  // the chooser is one for all
    if (plot.kind === "heat") {
      const signal = name => spec.signals.find(signal => signal.name === name);
      const labels = signal("labels").value, columns = new Set(rows.map(row => row[1])).size;
      const fits = Math.floor((room - (labels ? 170 : 90)) / Math.max(1, columns));
      signal("cell").value = Math.max(labels ? 34 : 3, Math.min(labels ? 64 : 14, fits));
      if (labels) delete spec.legends; else signal("row_height").value = signal("cell").value;
    } else {
      spec.width = room;
    }
    try {
      if (plot.view) plot.view.finalize();
      const runtime = vega.parse(spec, theme(), {ast: true});
      plot.view = new vega.View(runtime, {expr: vega.expressionInterpreter, renderer: "svg", container: plot.view_node, hover: true});
      await plot.view.runAsync();
    } catch (error) {
      problems.push(`${plot.title}: ${error}`);
      console.error(plot.title, error);
    }
  }

  const seen = new IntersectionObserver(entries => {  // a plot is drawn when it comes near
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      seen.unobserve(entry.target);
      if (!entry.target.plot.drawn) draw(entry.target.plot);
    }
  }, {rootMargin: "600px"});
  const draw_all = () => Promise.all(plots.filter(plot => plot.view_node && !plot.drawn).map(plot => draw(plot)));

  const text_of = value => value === null ? "" : String(value);

  function table(plot) {
    const numeric = plot.columns.map((_, i) => plot.rows.some(row => typeof row[i] === "number"));
    const cell = (tag, text, i, scope) => element(tag, {...(numeric[i] && {class: "number"}), ...(scope && {scope})}, text);
    const head = element("tr", {}, ...plot.columns.map((column, i) => cell("th", column.title, i, "col")));
    const body = element("tbody");
    for (const row of plot.rows) {
      body.append(element("tr", {}, ...row.map((value, i) => i ? cell("td", text_of(value), i) : cell("th", text_of(value), i, "row"))));
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
    const button = (label, action) => {
      const node = element("button", {type: "button"}, label);
      node.addEventListener("click", action);
      return node;
    };
    const scroll = (label, child) => element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": label}, child);
    const whole_table = () => [scroll(`Table: ${plot.title}`, table(plot)),
                               button("Save as CSV", () => save(`${name}.csv`, csv(plot), "text/csv"))];
    if (!(plot.kind in specifications)) {
      node.append(...whole_table());
      return node;
    }
    plot.view_node = element("div", {class: "view", tabindex: 0, role: "group", "aria-labelledby": id, "aria-describedby": `${id}about`});
    const rows = new Set(plot.rows.map(row => row[0])).size;
    const spec_text = () => JSON.stringify(specification(plot, plot.rows), null, 1);
    node.append(plot.view_node,
      ...(rows > most_rows && drawn_rows(plot).length < plot.rows.length && plot.kind !== "curve" ? [element("p", {class: "note"}, `Drawn are the first ${most_rows} of ${rows}; the table has all.`)] : []),
      folded(`Table (${plot.rows.length} rows)`, whole_table),
      folded("Vega specification", () => [
        scroll(`Specification: ${plot.title}`, element("pre", {}, spec_text())),
        button("Save as JSON", () => save(`${name}.vg.json`, spec_text(), "application/json"))]));
    seen.observe(node);
    return node;
  }

  /// How an encoding is drawn: the colours, symbols and dashes of curve.json, in the same order.
  function swatch(index) {
    const scale = name => specifications.curve.scales.find(scale => scale.name === name).range;
    const of = name => scale(name)[index % scale(name).length];
    const symbol = {circle: "M4,0A4,4,0,1,1,-4,0A4,4,0,1,1,4,0Z", square: "M-3.5,-3.5H3.5V3.5H-3.5Z", diamond: "M-4,0L0,-4.5L4,0L0,4.5Z",
                    "triangle-up": "M0,-4L4,3H-4Z", "triangle-down": "M0,4L4,-3H-4Z", "triangle-right": "M4,0L-3,-4V4Z",
                    cross: "M-4,-1.5H-1.5V-4H1.5V-1.5H4V1.5H1.5V4H-1.5V1.5H-4Z"}[of("shape")];
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const path = attributes => {
      const node = document.createElementNS("http://www.w3.org/2000/svg", "path");
      for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
      svg.append(node);
    };
    for (const [name, value] of [["width", 34], ["height", 12], ["viewBox", "-17 -6 34 12"], ["aria-hidden", "true"]]) svg.setAttribute(name, value);
    path({d: "M-17,0H17", stroke: of("color"), "stroke-width": 2, "stroke-dasharray": of("dash").join(" ")});
    path({d: symbol, fill: of("color")});
    return svg;
  }

  const redraw = wanted => plots.filter(plot => plot.drawn && wanted(plot)).forEach(plot => draw(plot));

  function chooser() {
    const choices = page.names.map((name, index) => {
      const box = element("input", {type: "checkbox"});
      box.checked = chosen.has(name);
      box.addEventListener("change", () => {
        if (box.checked) chosen.add(name); else chosen.delete(name);
        redraw(plot => plot.kind === "curve");
      });
      return element("label", {}, box, swatch(index), name);
    });
    return element("fieldset", {id: "chooser"}, element("legend", {}, "Encodings shown as curves"), ...choices);
  }

  const main = document.querySelector("main"), contents = document.querySelector("nav ul");
  let has_chooser = false;
  for (const [index, section] of page.sections.entries()) {
    if (!has_chooser && section.plots.some(plot => plot.kind === "curve")) {
      main.append(chooser());
      has_chooser = true;
    }
    const wide = section.plots.every(plot => plot.kind !== "curve" && plot.signals.labels !== false);
    const grid = element("div", {class: wide ? "plots wide" : "plots"}, ...section.plots.map(figure));
    main.append(element("section", {"aria-labelledby": `section${index}`}, element("h2", {id: `section${index}`}, section.title),
                        element("p", {class: "about"}, section.about), grid));
    contents.append(element("li", {}, element("a", {href: `#section${index}`}, section.title)));
  }

  dark.addEventListener("change", () => redraw(() => true));
  addEventListener("beforeprint", draw_all);
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => redraw(plot => Math.abs(plot.drawn - Math.max(200, plot.view_node.clientWidth - 4)) > 2), 150);
  });
  window.posbench = {plots, problems, draw_all, specification};  // for tests
})();
