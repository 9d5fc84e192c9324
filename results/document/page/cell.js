// The dialog of a cell of a map: the seeds of an encoding on a task, with links to their curves, their configuration and
// the pages of `posbench inspect`.
const dialog = element("dialog", {"aria-labelledby": "cell"});
const column_index = (plot, name) => plot.columns.findIndex(column => column.name === name);

function go_to(node) {
  dialog.close();
  if (node.tagName === "DETAILS") node.open = true;
  node.tabIndex = -1;
  node.focus({preventScroll: true});  // so that the next Tab goes on from here
  scroll_to(node);
}

/// Returns buttons that show the curves of the task, with the encoding among them.
function curve_buttons(encoding, task) {
  return plots.filter(plot => plot.kind === "curve" && plot.details.task === task).map(plot => button(`${plot.section}: ${plot.title}`, () => {
    if (!shown_curves().has(encoding)) change({show: [...shown_curves(), encoding]}, plot => plot.kind === "curve");
    go_to(plot.node);
  }));
}

/// Returns a table with a row for each run and seed, and the sequence accuracy on each split.
function seed_table(rows, of) {
  const splits = [...new Set(rows.map(row => of(row, "split")))], several_runs = page.runs.length > 1;
  const experiments = new Map();
  for (const row of rows) {
    const key = JSON.stringify([of(row, "run"), of(row, "seed")]);
    if (!experiments.has(key)) experiments.set(key, {row, values: new Map()});
    experiments.get(key).values.set(of(row, "split"), of(row, "sequence"));
  }
  const has_inspection = rows.some(row => of(row, "inspection"));
  const inspection = row => of(row, "inspection") ? element("a", {href: of(row, "inspection")}, "inspect") : "";
  const head = ["seed", ...(several_runs ? ["run"] : []), "status", ...splits, ...(has_inspection ? ["model"] : [])];
  const body = [...experiments.values()].map(({row, values}) => element("tr", {},
    element("th", {scope: "row"}, text_of(of(row, "seed"))), ...(several_runs ? [element("td", {}, of(row, "run"))] : []),
    element("td", {}, of(row, "status")), ...splits.map(split => element("td", {class: "number"}, two_digits(values.get(split)))),
    ...(has_inspection ? [element("td", {}, inspection(row))] : [])));
  return element("div", {class: "scroll", tabindex: 0}, element("table", {},
    element("thead", {}, element("tr", {}, ...head.map(text => element("th", {scope: "col"}, text)))), element("tbody", {}, ...body)));
}

function show_cell() {
  const {encoding, task} = state.cell;
  const seeds = plots.find(plot => plot.details.seeds);
  const of = (row, name) => row[column_index(seeds, name)];
  const rows = seeds ? seeds.rows.filter(row => of(row, "task") === task && of(row, "encoding") === encoding) : [];
  if (!rows.length) return;
  const map = plots.find(plot => plot.details.cells && plot.rows.some(row => row[0] === encoding && row[1] === task && row[column_index(plot, "note")]));
  const note = map && map.rows.find(row => row[0] === encoding && row[1] === task)[column_index(map, "note")];
  const runs = [...new Set(rows.map(row => of(row, "run")))];
  dialog.replaceChildren(
    element("h2", {id: "cell"}, `${encoding} on ${task}`),
    element("p", {class: "about"}, [family_of.get(encoding), note && `${note}: most seeds are under 0.95 in distribution; in brackets, how much validation accuracy still rose in the last 40 % of training`]
      .filter(Boolean).join("; ")),
    element("p", {}, "Sequence accuracy of each seed:"), seed_table(rows, of),
    element("p", {class: "links"}, ...curve_buttons(encoding, task),
            ...runs.map(run => button(`Configuration: ${run}`, () => go_to(document.getElementById(`configuration${page.runs.indexOf(run)}`))))),
    button("Close", () => dialog.close()));
  if (!dialog.open) dialog.showModal();
}

function open_cell(encoding, task) {
  const plain = text => text.replace(/\u2060$/, "");  // without the word joiner of escape_reserved
  state.cell = {encoding: plain(encoding), task: plain(task)};
  write_address();
  show_cell();
}
dialog.addEventListener("close", () => {
  state.cell = null;
  write_address();
});
