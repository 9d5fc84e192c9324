// Prints the specifications that plots.js of the page makes. Arguments: a file with the JSON texts of the page by id, and
// the scripts of the page. The objects of the browser that they do not need do nothing.
const fs = require("fs");
const [texts, ...scripts] = process.argv.slice(2).map(file => fs.readFileSync(file, "utf8"));
const documents = JSON.parse(texts);
const nothing = new Proxy(function () {}, {
  get: (_, key) => key === Symbol.toPrimitive ? () => "" : nothing,
  apply: () => nothing,
  construct: () => nothing,
});
const globals = {
  document: {getElementById: id => documents[id] && {textContent: documents[id]}, createElement: () => nothing},
  location: {hash: ""}, matchMedia: nothing, IntersectionObserver: nothing, addEventListener: nothing, history: nothing,
};
const last = `let n = 0;
return page.sections.flatMap(section => section.plots).map(plot => with_rows(plot, n++))
  .filter(plot => plot.kind in specifications).map(plot => specification(plot, plot.rows));`;
const run = new Function(...Object.keys(globals), [...scripts, last].join("\n"));
console.log(JSON.stringify(run(...Object.values(globals))));
