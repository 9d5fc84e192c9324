// Makes tables that a click on a header sorts.
{
/// Returns the number at the beginning of a text, such as 0.93 of "0.93 (+0.05)"; null if there is none. ">0.99" is greater
/// than 0.99, and "<1x" less than 1.
function number_of(text) {
  const fraction = /^(\d+) of (\d+)$/.exec(text);
  if (fraction) return Number(fraction[1]) / Number(fraction[2]);
  const parts = /^([<>]?)=?([+-]?\d+(?:\.\d+)?)/.exec(text);
  return parts && Number(parts[2]) + ({"<": -1e-9, ">": 1e-9}[parts[1]] || 0);
}

/// Orders numbers before texts, and nothing ("-") last in either direction.
function compare_cells(a, b, direction) {
  const [first, second] = [number_of(a), number_of(b)], empty = text => text === "" || text === "-";
  if (empty(a) || empty(b)) return empty(a) - empty(b);
  if (first !== null && second !== null) return direction * (first - second);
  if (first !== null || second !== null) return first === null ? 1 : -1;
  return direction * a.localeCompare(b, "en", {sensitivity: "base"});
}

function sort_table(table, column) {
  const headers = [...table.tHead.rows[0].cells], body = table.tBodies[0], rows = [...body.rows];
  const text = row => row.cells[column].textContent.trim(), before = headers[column].getAttribute("aria-sort");
  const descends_first = headers[column].classList.contains("number");
  const direction = before === "none" ? (descends_first ? -1 : 1) : before === "ascending" ? -1 : 1;
  rows.sort((a, b) => compare_cells(text(a), text(b), direction));
  body.append(...rows);
  headers.forEach((header, i) => header.setAttribute("aria-sort", i !== column ? "none" : direction > 0 ? "ascending" : "descending"));
}

for (const table of document.querySelectorAll("table.sortable")) {
  if (table.querySelector("thead button")) continue;  // the scripts of a site have this part twice
  [...table.tHead.rows[0].cells].forEach((header, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...header.childNodes);
    button.addEventListener("click", () => sort_table(table, column));
    header.append(button);
    header.setAttribute("aria-sort", "none");
  });
}
}
