// Uses the controls of the page of a report.
Object.assign(test, {
  // Saves the first plot of a kind as SVG and PNG, and returns both.
  async saved(kind) {
    await posbench.draw_all();
    const blobs = [], figure = document.querySelector(`figure.${kind}`);
    URL.createObjectURL = blob => { blobs.push(blob); return "about:blank"; };
    HTMLAnchorElement.prototype.click = () => {};
    for (const [count, name] of [[1, "Save as SVG"], [2, "Save as PNG"]]) {
      [...figure.querySelectorAll("button")].find(button => button.textContent === name).click();
      for (let i = 0; i < 100 && blobs.length < count; ++i) await new Promise(resolve => setTimeout(resolve, 20));
    }
    const [svg, png] = blobs, bitmap = await createImageBitmap(png);
    return {svg: await svg.text(), types: blobs.map(blob => blob.type), width: bitmap.width, drawn: figure.plot.drawn,
            title: figure.plot.title};
  },

  // Returns the names of the first map, and the number of curves.
  async map() {
    await test.settle();
    const view = posbench.plots.find(plot => plot.details.cells).view, rows = view.scale("y").domain();
    return {rows, columns: view.scale("x").domain(), families: rows.map(name => posbench.family_of.get(name)),
            curves: posbench.plots.filter(plot => plot.kind === "curve" && !plot.node.hidden).length};
  },

  async filter(words) {
    const text = document.querySelector("#filters input");
    text.value = words;
    text.dispatchEvent(new Event("input"));
    await test.settle();
  },
  filter_text() { return document.querySelector("#filters input").value; },

  // Returns the number of headings without a plot, and of hidden links.
  empty_headings() {
    const shown = [...document.querySelectorAll("main > section")].filter(section => !section.hidden);
    return [shown.filter(section => [...section.querySelectorAll("figure")].every(figure => figure.hidden)).length,
            document.querySelectorAll("nav li[hidden]").length];
  },

  // Returns the names, colors and dashes of the legend, those of the curves of the chosen encodings, and all names in order.
  async legend() {
    await test.settle();
    const {view} = posbench.plots.find(plot => plot.kind === "curve" && plot.view), of = name => view.scale(name);
    const attributes = node => ["stroke", "stroke-dasharray"].map(name => node.querySelector("path").getAttribute(name));
    const chosen = [...document.querySelectorAll("#chooser input:checked")].map(box => box.parentNode.textContent);
    return {legend: [...document.querySelectorAll("#legend span")].map(span => [span.textContent, ...attributes(span)]),
            drawn: chosen.map(name => [name, of("color")(name), of("dash")(name).join(" ")]), ranked: of("color").domain()};
  },

  async symbols() {
    await test.settle();
    return document.querySelectorAll("figure.curve .means path").length;
  },
  toggle_first() { document.querySelector("#chooser input").click(); },

  // Adds an image to the page, as a hostile report would if its texts were not escaped.
  async insert_image(attributes) {
    document.body.insertAdjacentHTML("beforeend", `<img ${attributes}>`);
    await new Promise(resolve => setTimeout(resolve, 100));
    return document.title;
  },

  colors() { return Object.fromEntries([...posbench.family_of.keys()].map(name => [name, posbench.color_of(name)])); },

  // Returns the milliseconds until the first plot, the numbers of drawn and of all plots, and whether a map is drawn in view.
  first() {
    document.querySelector("figure").scrollIntoView();  // tables come before it
    return new Promise(done => {
      const look = () => posbench.first() || posbench.problems.length ? done(posbench.first()) : requestAnimationFrame(look);
      look();
    });
  },
  counts() { return [posbench.plots.filter(plot => plot.drawn).length, posbench.plots.length, posbench.problems.length]; },
  map_in_view() {
    document.querySelector("figure.heat").scrollIntoView();
    return new Promise(done => {
      const look = () => document.querySelector("figure.heat .cells path") ? done(true) : requestAnimationFrame(look);
      look();
    });
  }
});
