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
