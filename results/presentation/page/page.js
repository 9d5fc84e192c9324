// Puts the page together from its data. Texts from reports reach the document as text nodes only.
read_address();
const main = document.querySelector("main"), contents = document.querySelector("nav ul");
let plot_number = 0;
if (page.names.length) main.append(filters());
left = filter();
for (const [index, section] of page.sections.entries()) {
  const of_kind = kind => section.plots.every(plot => plot.kind === kind);
  const grid = element("div", {class: of_kind("heat") && page.names.length && !section.plots[0].details.phase ? "plots maps" : of_kind("heat") || of_kind("curve") ? "plots" : "plots wide"});
  for (const plot of section.plots) {
    plot.section = section.title;
    grid.append(figure(with_rows(plot, plot_number++)));
  }
  main.append(element("section", {"aria-labelledby": `section${index}`}, element("h2", {id: `section${index}`}, section.title),
                      element("p", {class: "about"}, section.about), grid));
  const link = element("a", {href: `#at=section${index}`}, section.title);
  link.addEventListener("click", event => {
    event.preventDefault();  // the address keeps the filters too
    state.at = `section${index}`;
    write_address();
    document.getElementById(state.at).scrollIntoView();
  });
  contents.append(element("li", {}, link));
}
document.body.append(dialog);

function follow_address() {
  apply();
  if (/^section\d+$/.test(state.at)) document.getElementById(state.at)?.scrollIntoView();
  if (state.cell) show_cell(); else if (dialog.open) dialog.close();
}
follow_address();
addEventListener("hashchange", () => {
  read_address();
  follow_address();
});
dark.addEventListener("change", () => redraw(() => true));
addEventListener("beforeprint", draw_all);
let waiting = 0;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => redraw(plot => Math.abs(plot.drawn - room_of(plot)) > 2), 150);
});
window.posbench = {plots, problems, draw_all, specification, first: () => first, family_of};  // for tests
