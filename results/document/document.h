// Defines what a command shows: a title and a list of blocks. A renderer for each format writes it (render.h), so
// that no command knows a format.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "results/document/page.h"
#include "results/document/table.h"
#include "results/json/json.h"

namespace posbench {

/// Begins a section.
struct Heading {
  std::string text;
  std::string id = {};  // its address in a page; empty: made from the text
};

/// A paragraph, or lines that keep their breaks, such as an equation or commands.
struct Text {
  std::string text;
  bool is_preformatted = false;
};

/// A name and its value. A fact without a value is left out.
struct Fact {
  std::string name, value;
  Names names = Names::none;  // of a value that lists names, separated by ", "
};
struct Facts {
  std::vector<Fact> facts;
};

/// A remark about the tables above it: a unit, or the meaning of a mark.
struct Note {
  std::string text;
};

/// A long list of a document's JSON, whose items are made when they are written. Several threads call `item`.
struct JsonList {
  std::string key;
  size_t count = 0;
  std::function<Json(size_t index)> item;
};

/// Returns the address of the page about a name. Empty if there is none.
using FindPage = std::function<std::string(Names, const std::string& name)>;

struct Document {
  using Block = std::variant<Heading, Text, Facts, Table, Note>;

  std::string title;  // empty: none
  std::vector<Block> blocks;
  std::vector<Block> brief = {};  // a console without --full shows these instead, if there are any
  std::string rest = {};          // what --full adds, for a note

  // Other forms have this in addition. The functions are called only for the format that needs them.
  std::function<Page()> page;  // plots, what the reader can select, and further JSON. Empty plots are left out
  std::vector<Block> page_blocks = {};     // replace the blocks on a page, if there are any
  FindPage find_page = {};                 // places in its own page that names link to
  std::function<Json()> json;              // keys that other programs read. Without it: the tables
  std::optional<JsonList> json_list = {};  // replaces an empty list of `json`
  std::function<Table()> rows;             // of CSV. Without it: the only table
  std::function<Table()> paper = {};       // of LaTeX. Without it: all tables
};

/// Adds each text as a note.
void add_notes(const std::vector<std::string>& texts, std::vector<Document::Block>&);

}  // namespace posbench
