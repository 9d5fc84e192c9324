// Looks at the pages of a site, and sorts and searches in them.
var test = {
  // Presses the header of a column of the encodings twice, and returns the order and the cells after each time.
  sorted(column) {
    const table = document.querySelector("table[aria-label='Encodings']");
    const cells = [...table.tHead.rows[0].cells], at = cells.findIndex(cell => cell.textContent.trim() === column);
    return [0, 1].map(() => {
      cells[at].querySelector("button").click();
      return {order: cells[at].getAttribute("aria-sort"), cells: [...table.tBodies[0].rows].map(row => row.cells[at].textContent)};
    });
  },

  // Returns the names and addresses that a search finds.
  found(text) {
    const query = document.getElementById("query");
    query.value = text;
    query.dispatchEvent(new Event("input"));
    return [...document.querySelectorAll("#found a")].map(link => [link.textContent, link.href]);
  },

  async look() {
    if (window.posbench) await posbench.draw_all();
    const views = [...document.querySelectorAll(".view")].filter(view => !view.closest("[hidden]"));
    return {width: document.documentElement.scrollWidth, problems: window.posbench ? posbench.problems : [], views: views.length,
            drawn: views.filter(view => view.querySelector("svg path, svg line, svg rect")).length,
            paper: getComputedStyle(document.body).backgroundColor};
  },

  // Returns what axe finds, which was evaluated before.
  async violations() {
    return (await axe.run()).violations.map(v => [v.impact, v.id, v.nodes.length, v.nodes[0].html.slice(0, 150)]);
  }
};
