// Search over the names of the site (names.js).
"use strict";
(() => {
const root = document.documentElement.dataset.root, most_found = 20;
const query = document.getElementById("query"), found = document.getElementById("found"), count = document.getElementById("count");

/// Returns how well an entry matches the words of the query, from 0 (best); null if a word is in none of its texts.
function rank({name, aliases, text}, words) {
  const names = [name, ...aliases].map(name => name.toLowerCase()), whole = words.join(" ");
  if (!words.every(word => names.some(name => name.includes(word)) || text.toLowerCase().includes(word))) return null;
  if (names.includes(whole)) return 0;
  if (names.some(name => name.startsWith(whole))) return 1;
  return words.every(word => names.some(name => name.includes(word))) ? 2 : 3;
}

function search(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  return posbench_names.map(entry => ({entry, rank: rank(entry, words)})).filter(match => match.rank !== null)
    .sort((a, b) => a.rank - b.rank).map(match => match.entry);
}

function item({name, kind, address, aliases}) {
  const node = document.createElement("li"), link = document.createElement("a"), about = document.createElement("span");
  link.href = root + address;
  link.textContent = name;
  about.textContent = ` ${kind}${aliases.length ? `, also called ${aliases.join(", ")}` : ""}`;
  node.append(link, about);
  return node;
}

function show_found() {
  const entries = search(query.value);
  found.replaceChildren(...entries.slice(0, most_found).map(item));
  found.hidden = entries.length === 0;
  count.textContent = !query.value.trim() ? "" : entries.length > most_found ? `${most_found} of ${entries.length} found` : `${entries.length} found`;
}
query.addEventListener("input", show_found);
query.addEventListener("focus", show_found);
query.addEventListener("keydown", event => {
  if (event.key === "Enter") found.querySelector("a")?.click();
});
document.getElementById("top").addEventListener("keydown", event => {
  const links = [...found.querySelectorAll("a")], step = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (event.key === "Escape") {
    query.focus();  // which shows the list
    found.hidden = true;
  }
  if (!step || !links.length || found.hidden) return;
  event.preventDefault();
  (links[links.indexOf(document.activeElement) + step] || query).focus();
});
document.addEventListener("click", event => {
  if (!document.getElementById("top").contains(event.target)) found.hidden = true;
});
document.getElementById("search").hidden = false;
})();
