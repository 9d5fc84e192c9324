// Looks at pages of claims, of the board, of a comparison and of a sweep.
Object.assign(test, {
  // Returns the plots of a kind that can be seen, each with the numbers of its marks.
  async plots(kind) {
    await posbench.draw_all();
    const count = (plot, name) => plot.view_node.querySelectorAll(`.${name} path`).length;
    return posbench.plots.filter(plot => plot.kind === kind).map(plot => ({
      title: plot.title, rows: plot.rows, signals: plot.signals, details: plot.details, is_drawn: Boolean(plot.drawn),
      marks: Object.fromEntries(["seed_dots", "thresholds", "published_values", "means"].map(name => [name, count(plot, name)]))}));
  },

  // Clicks a dot of the plot of published values, and returns what the page then shows.
  click_dot(name) {
    const plot = posbench.plots.find(plot => plot.kind === "scatter"), dots = [...plot.view_node.querySelectorAll(".dots path")];
    dots[plot.rows.findIndex(row => row[0] === name)].dispatchEvent(new MouseEvent("click", {bubbles: true}));
    return {count: dots.length, names: plot.rows.map(row => row[0]), hash: location.hash};
  },

  async top_of(name) {
    await test.settle();
    return posbench.plots.find(plot => plot.details.opened_by === name).node.getBoundingClientRect().top;
  },

  markup_in_texts() { return document.querySelectorAll("figcaption b, td b").length; },

  // Returns the headings of sections with strips that are shown.
  async screens() {
    await posbench.draw_all();
    return [...document.querySelectorAll("main > section")]
      .filter(section => !section.hidden && section.querySelector("figure.strip"))
      .map(section => section.querySelector("h2").textContent);
  },

  // Returns the columns and rows of each phase diagram that is not filtered away.
  async axes() {
    await test.settle();
    return posbench.plots.filter(plot => plot.details.phase && !plot.node.hidden)
      .map(plot => [plot.title, plot.view.scale("x").domain(), plot.view.scale("y").domain()]);
  },

  problems() { return posbench.problems; }
});
