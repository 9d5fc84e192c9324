// Controls the bar at the top, which selects and orders encodings, tasks and curves.

/// Returns the legend symbol of an encoding: its color, symbol and dash in plots of curves.
function legend_symbol(name) {
  const of = property => style_range(property)(name);
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

const bar = {};  // its parts
/// Shows the state in the bar and in the plots. `should_draw` selects the plots that are drawn again.
function apply(should_draw = () => true) {
  selection = filter();
  const shown = shown_curves();
  if (bar.node) {
    bar.text.value = state.text;
    bar.family.value = state.family;
    bar.sort.value = state.sort;
    for (const [name, {label, box}] of bar.choices) {
      label.hidden = !selection.encodings.has(name);
      box.checked = shown.has(name);
    }
    bar.summary.textContent = `Curves of ${shown.size} of ${selection.encodings.size} ${page.item_plural}`;
    bar.legend.replaceChildren(...[...shown].map(name => element("span", {}, legend_symbol(name), name)));
    const covers = getComputedStyle(bar.node).position === "sticky";  // not on narrow screens
    document.documentElement.style.scrollPaddingTop = covers ? `${bar.node.offsetHeight + 8}px` : 0;
    bar.none.hidden = selection.encodings.size > 0;
  }
  redraw(should_draw);
}
function change(values, should_draw) {
  Object.assign(state, values);
  write_address();
  apply(should_draw);
}

function select(label, options, key) {
  const node = element("select", {}, ...options.map(([value, text]) => element("option", {value}, text)));
  node.addEventListener("change", () => change({[key]: node.value}, key === "sort" ? plot => plot.kind !== "curve" : undefined));
  bar[key] = node;
  return element("label", {}, label, node);
}

function filters() {
  const is_of_encodings = page.item_plural === "encodings";  // a page of heads has layers as families
  const has_maps = page.sections.some(section => section.plots.some(plot => plot.details.cells));
  bar.choices = new Map(page.names.map(name => {
    const box = element("input", {type: "checkbox"});
    box.addEventListener("change", () => {
      const shown = shown_curves();
      if (box.checked) shown.add(name); else shown.delete(name);
      change({show: [...shown]}, plot => plot.kind === "curve");
    });
    return [name, {box, label: element("label", {}, box, legend_symbol(name), name)}];
  }));
  bar.text = element("input", {type: "search", placeholder: is_of_encodings ? "encoding, task, family" : page.item_plural, spellcheck: "false"});
  let timer = 0;
  bar.text.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => change({text: bar.text.value}), 150);
  });
  bar.summary = element("summary");
  bar.none = element("p", {class: "note"}, "Nothing matches the filter.");
  const families = [...new Set(page.families)].filter(Boolean).sort();
  const choose = names => change({show: names}, plot => plot.kind === "curve");
  const chooser = element("details", {id: "chooser"}, bar.summary,
    element("div", {}, ...[...bar.choices.values()].map(choice => choice.label),
            button("None", () => choose([])), button(`First ${most_curves}`, () => choose(null))));
  chooser.open = !document.querySelector("main table") && page.names.length <= 12 && innerWidth >= 640;
  bar.legend = element("div", {id: "legend"});  // visible while the chooser, which shows the same, is closed
  bar.node = element("div", {id: "filters", role: "search"},
    element("label", {}, "Filter", bar.text),
    ...(families.length > 1 ? [select(is_of_encodings ? "Family" : "Layer", [["", "all"], ...families.map(family => [family, family])], "family")] : []),
    ...(has_maps ? [select("Sort maps by", [["rank", "rank"], ...(families.length ? [["family", "family"]] : []), ["name", "name"],
                                          ...page.tasks.map(task => [`task ${task}`, `accuracy on ${task}`])], "sort")] : []),
    button("Reset", () => change({text: "", family: "", sort: "rank", show: null})), bar.none, chooser, bar.legend);
  bar.family ??= {};
  bar.sort ??= {};
  return bar.node;
}
