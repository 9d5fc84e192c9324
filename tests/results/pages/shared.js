// Functions that the tests of several pages call in the browser.
var test = {
  // Waits until a change is drawn.
  async settle() {
    await new Promise(resolve => setTimeout(resolve, 250));
    await posbench.draw_all();
  },

  // Returns the sections with their plots, and what the whole page shows.
  async look() {
    await posbench.draw_all();
    const sections = [];
    for (const section of document.querySelectorAll("main > section")) {
      const plots = [];
      for (const figure of section.querySelectorAll("figure")) plots.push(await test.look_at(figure));
      if (plots.length) sections.push({title: section.querySelector("h2").textContent, plots});
    }
    const wide = [...document.querySelectorAll(".results td")].filter(cell => cell.scrollWidth > cell.clientWidth + 1);
    const problems = [...posbench.problems, ...wide.map(cell => `too wide: ${cell.textContent}`)];
    return {sections, problems, title: document.title, width: document.documentElement.scrollWidth,
            heading: document.querySelector("h1").textContent, names: document.querySelectorAll("#chooser label").length,
            noun: document.querySelector("#chooser summary").textContent, chosen: test.chosen(),
            paper: getComputedStyle(document.body).backgroundColor};
  },

  chosen() {
    return [...document.querySelectorAll("#chooser input:checked")].map(box => box.parentNode.textContent);
  },

  // Returns the rows of a plot, as given and in its table, the drawn marks, and the rows of its specification alone.
  async look_at(figure) {
    for (const details of figure.querySelectorAll("details")) details.open = true;
    await new Promise(resolve => setTimeout(resolve));
    const plot = figure.plot, shape = {heat: "cells", curve: "means", dots: "means"}[plot.kind];
    const marks = [...figure.querySelectorAll(`.view .${shape} path`)].filter(path => path.getAttribute("d"));
    let alone = null;
    if (shape) {
      const specification = JSON.parse(figure.querySelector("pre").textContent);
      const view = new vega.View(vega.parse(specification, {}, {ast: true}), {expr: vega.expressionInterpreter, renderer: "none"});
      await view.runAsync();
      alone = view.data("table").length;
    }
    return {kind: plot.kind, title: plot.title, rows: plot.rows, marks: marks.length, alone, details: plot.details,
            cells: [...figure.querySelectorAll("tbody tr")].map(row => [...row.cells].map(cell => cell.textContent)),
            headers: figure.querySelectorAll("thead th").length, seeds: figure.querySelectorAll(".view .seed_dots path").length,
            texts: [...figure.querySelectorAll(".view .labels text")].map(text => text.textContent),
            colors: plot.view && plot.kind === "heat" ? plot.view.scale("color").domain() : null};
  },

  // Returns whether the first table is cut off, and the middle of its right edge below the header.
  edge() {
    const table = document.querySelector(".results"), scroll = table.parentNode;
    scroll.scrollIntoView({block: "start"});
    const row = table.querySelector("tbody tr:nth-child(2)").getBoundingClientRect(), box = scroll.getBoundingClientRect();
    return {cut: scroll.scrollWidth > scroll.clientWidth + 1, x: Math.floor(box.right) - 5, y: Math.floor(row.top + scrollY) + 2};
  },

  scroll_to_end() {
    document.querySelector(".results").parentNode.scrollLeft = 1e6;
    return new Promise(requestAnimationFrame);
  },

  // Returns the red values of a picture.
  async reds(picture) {
    const bytes = Uint8Array.from(atob(picture), c => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    context.drawImage(bitmap, 0, 0);
    return [...context.getImageData(0, 0, bitmap.width, bitmap.height).data].filter((_, i) => i % 4 === 0);
  },

  // Returns the texts of plots that are cut off at an edge of their view, and the sloping labels that overlap.
  async labels() {
    await posbench.draw_all();
    const cut = [], overlapping = [];
    for (const plot of posbench.plots.filter(plot => !plot.node.closest("[hidden]"))) {
      const svg = plot.view_node.querySelector("svg").getBoundingClientRect();
      for (const text of plot.view_node.querySelectorAll("svg text")) {
        const box = text.getBoundingClientRect();
        if (box.width && (box.left < svg.left - 1 || box.right > svg.right + 1)) cut.push(`${plot.title}: ${text.textContent}`);
      }
      if (plot.kind !== "heat") continue;
      const axis = [...plot.view_node.querySelectorAll(".role-axis")].map(node => [...node.querySelectorAll(".role-axis-label text")])
        .find(texts => texts.length > 1 && texts[0].getAttribute("transform")?.includes("rotate")) || [];
      for (const [i, text] of axis.slice(1).entries()) {  // the distance of lines of text, and the height of the letters
        const numbers = node => node.getAttribute("transform").match(/-?[\d.]+/g).map(Number);
        const [x, , angle] = numbers(text), [before] = numbers(axis[i]);
        const gap = Math.abs(x - before) * Math.abs(Math.sin(angle * Math.PI / 180));
        if (gap < 1.1 * parseFloat(text.getAttribute("font-size"))) overlapping.push(`${plot.title}: ${text.textContent}`);
      }
    }
    return {cut, overlapping};
  },

  // Returns where the first row of the first table ends, and where the first plot begins.
  opening() {
    return {title: document.title, row: document.querySelector(".results tbody tr")?.getBoundingClientRect().bottom,
            plot: document.querySelector("figure .view")?.getBoundingClientRect().top};
  },

  // Returns the cells of the first table whose rows have them.
  table(selector) {
    return [...document.querySelectorAll(`${selector} tbody tr`)].map(row => [...row.cells].map(cell => cell.textContent));
  },

  // Clicks the name of a row of the first table.
  open_row(name) {
    [...document.querySelectorAll(".results tbody th a")].find(link => link.textContent === name).click();
  },

  hash() { return location.hash.slice(1); },
  width() { return document.documentElement.scrollWidth; }
};
