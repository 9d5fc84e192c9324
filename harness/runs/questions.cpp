#include "harness/runs/questions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "harness/config/embedded_data.h"
#include "results/json/json.h"

namespace posbench {
namespace {

std::vector<std::string> texts_of(const Field& list) {
  return read_list<std::string>(list, [](const Field& text) { return text.text(); });
}

/// The first line has the headers.
Table table_of(const Field& lines) {
  Table table;
  lines.each([&](const Field& line) {
    const std::vector<std::string> texts = texts_of(line);
    if (table.columns.empty()) {
      for (const std::string& text : texts) table.columns.push_back({text});
    } else {
      table.rows.emplace_back(texts.begin(), texts.end());
    }
  });
  return table;
}

}  // namespace

Document questions_document() {
  const std::string name = "answers.json";
  const Json json = parse_json(answers_text(), name);
  const Field answers(json, name);
  Document document{.title = "Questions of people who train and serve models", .blocks = {}};
  std::vector<Document::Block>& blocks = document.blocks;
  for (const std::string& text : texts_of(answers["introduction"])) blocks.push_back(Text{text});
  const Field questions = answers["questions"];
  questions.each([&](const Field& question) {
    blocks.push_back(Heading{fmt::format("{}. {}", question["id"].natural(), question["question"].text())});
    blocks.push_back(Text{"Asked in " + question["sources"].text() + "."});
    blocks.push_back(Text{question["answer"].text()});
    blocks.push_back(Text{question["limits"].text()});
    blocks.push_back(
        Text{fmt::format("{}", fmt::join(texts_of(question["commands"]), "\n")), /*is_preformatted=*/true});
    blocks.push_back(table_of(question["table"]));
  });
  return document;
}

}  // namespace posbench
