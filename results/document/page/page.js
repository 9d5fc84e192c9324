// Makes the page from its data. Texts from reports reach the document as text nodes only.
read_address();
const main = document.querySelector("main"), contents = document.querySelector("nav ul");
const [after_plots, after_links] = page.plots_first ? [main.firstElementChild, contents.firstElementChild] : [null, null];
let plot_number = 0;

/// Shows a section, scrolls to it, and stores it in the address. If it is a task of the board, shows the plots of this task.
function open_section(index) {
  state.at = `section${index}`;
  if (page.sections[index].is_screen) state.open = page.sections[index].title;
  write_address();
  redraw(() => false);
  scroll_to(document.getElementById(state.at));
}
if (page.names.length) main.insertBefore(filters(), after_plots);
selection = filter();
for (const [index, section] of page.sections.entries()) {
  const of_kind = kind => section.plots.every(plot => plot.kind === kind);
  const grid = element("div", {class: of_kind("heat") && page.names.length && !section.plots[0].details.phase && !section.plots[0].details.pairs ? (page.tasks.length > most_columns ? "plots single" : "plots maps") : of_kind("heat") || of_kind("curve") ? "plots" : "plots wide"});
  for (const plot of section.plots) {
    plot.section = section.title;
    grid.append(figure(with_rows(plot, plot_number++)));
  }
  section.is_screen = section.plots.every(plot => plot.details.screen);
  section.node = element("section", {"aria-labelledby": `section${index}`}, element("h2", {id: `section${index}`}, section.title),
                      ...(section.about ? [element("p", {class: "about"}, section.about)] : []), grid);
  main.insertBefore(section.node, after_plots);
  const link = element("a", {href: `#at=section${index}`}, section.title);
  link.addEventListener("click", event => {
    event.preventDefault();  // the address keeps the filters too
    open_section(index);
  });
  section.item = element("li", {}, link);
  contents.insertBefore(section.item, after_links);
}
function follow_address() {
  apply();
  if (state.open) state.at = `section${page.sections.findIndex(section => section.title === state.open)}`;
  if (/^section\d+$/.test(state.at) && document.getElementById(state.at)) scroll_to(document.getElementById(state.at));
}
follow_address();
addEventListener("hashchange", () => {
  read_address();
  follow_address();
});
dark.addEventListener("change", () => redraw(() => true));
addEventListener("beforeprint", draw_all);
let timer = 0;
addEventListener("resize", () => {
  clearTimeout(timer);
  timer = setTimeout(() => redraw(plot => Math.abs(plot.drawn - plot_width(plot)) > 2), 150);
});
window.posbench = {plots, problems, draw_all, specification, first: () => first, family_of, color_of: name => style_range("color")(name)};  // for tests
