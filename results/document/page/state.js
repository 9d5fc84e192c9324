// Stores the data of the page and the reader's choices, and keeps the choices in the page's address:
// #text=rope&family=rotary&sort=family&show=rope&show=alibi&at=section2&open=counting
const json = id => JSON.parse(document.getElementById(id).textContent);
const page = json("page"), specifications = json("specifications");
const most_curves = 8, most_columns = 24;  // a map of more tasks needs the whole width
const family_of = new Map(page.names.map((name, i) => [name, page.families[i]]));

/// Returns for each name the index of its color, symbol and dash. Names with the same number, such as one encoding with
/// different options, share the color and differ in symbol and dash. More than two of them have other colors.
function find_styles() {
  const counts = new Map(), styles = new Map(), number_of = name => page.styles[page.names.indexOf(name)] ?? page.names.indexOf(name);
  const sharing = number => page.names.filter(name => number_of(name) === number).length;
  for (const name of [...page.names].sort()) {
    const number = number_of(name), variant = counts.get(number) || 0;
    counts.set(number, variant + 1);
    styles.set(name, {color: sharing(number) > 2 ? number + variant : number, shape: number + variant, dash: number + variant});
  }
  return styles;
}
const styles = find_styles();

const state = {};
function read_address() {
  const given = new URLSearchParams(location.hash.slice(1));
  state.text = given.get("text") || "";
  state.family = given.get("family") || "";
  state.sort = given.get("sort") || "rank";  // rank, family, name, or "task " and a task
  state.show = given.has("show") ? given.getAll("show").filter(name => family_of.has(name)) : null;  // null: the best of the selected ones
  state.at = given.get("at") || "";
  state.open = given.get("open") || "";  // the task of the board whose plots are shown
}
function write_address() {
  const address = new URLSearchParams();
  for (const key of ["text", "family", "sort", "at", "open"]) {
    if (state[key] && !(key === "sort" && state.sort === "rank")) address.set(key, state[key]);
  }
  if (state.show) for (const name of state.show.length ? state.show : [""]) address.append("show", name);
  history.replaceState(null, "", `#${address}`);
}

/// Returns true if the filters select the cell of an encoding and a task: every word is in a name or in the family.
function filter() {
  const words = state.text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (text, word) => text.toLowerCase().includes(word);
  const cell = (encoding, task) => (!state.family || family_of.get(encoding) === state.family) &&
    words.every(word => has(encoding, word) || has(task, word) || has(family_of.get(encoding) || "", word));
  return {cell, encodings: new Set(page.names.filter(name => page.tasks.some(task => cell(name, task)))),
          tasks: new Set(page.tasks.filter(task => page.names.some(name => cell(name, task))))};
}
let selection = null;  // the encodings, tasks and cells that the filters select
const shown_curves = () => {
  const names = page.names.filter(name => selection.encodings.has(name));
  return new Set(state.show ? names.filter(name => state.show.includes(name)) : names.slice(0, most_curves));
};

/// Returns encodings in the chosen order. If that is a task, orders them by their value there, which `value_of` returns.
function sorted(names, value_of) {
  const by = {family: name => family_of.get(name), name: name => name}[state.sort];
  if (by) return [...names].sort((a, b) => by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : page.names.indexOf(a) - page.names.indexOf(b));
  const task = state.sort.startsWith("task ") ? state.sort.slice(5) : null;
  if (task === null || !value_of) return [...names].sort((a, b) => page.names.indexOf(a) - page.names.indexOf(b));
  const value = name => value_of(name, task) ?? -1;
  return [...names].sort((a, b) => value(b) - value(a));
}

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
function button(label, action) {
  const node = element("button", {type: "button"}, ...[label].flat());
  node.addEventListener("click", action);
  return node;
}
