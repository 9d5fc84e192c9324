// The results of an encoding.
#include "results/presentation/encoding_card.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "results/document/render.h"
#include "tests/catch.h"
#include "tests/results/golden_board.h"

using namespace posbench;

namespace {

EncodingCard rope_card(const BoardReport& all) {
  return make_card("rope", all, make_board(all), golden_aspects());
}

std::string card_text(const EncodingCard& card) {
  Document document{.title = card.name, .blocks = card_summary(card)};
  for (Document::Block& block : card_details(card)) document.blocks.push_back(std::move(block));
  return to_console_text(document);
}

}  // namespace

TEST_CASE("the card of a small board with grids has effective lengths, a score for each aspect, and every task") {
  BoardReport all = golden_board();
  add_grids(all);
  all.find_mark = [](const std::string& task) { return task == "task2" ? "control" : ""; };
  const EncodingCard card = rope_card(all);
  const Json json = to_json(card, {});
  CHECK(json["aspects"].size() == 2);
  REQUIRE(json["effective_lengths"].size() == 3);
  const Json& tasks = json["board"]["tasks"];
  REQUIRE(tasks.size() == 3);
  CHECK(tasks[0]["rows"][0]["effective_length"]["multiple"] == 2);
  CHECK(tasks[0]["rows"][0]["effective_length"]["high"] == 8);
  CHECK(tasks[2]["rows"][0]["standing"] == "not learned");
  CHECK(card_text(card).find(" 1 task marked control or open does not count: task2.") != std::string::npos);
  CHECK(card_page(card).sections.at(0).plots.size() == 2);  // the scores and the accuracies
}

TEST_CASE("a card states in short what the encoding learns, keeps and fails at") {
  BoardReport all = golden_board();
  const auto contains = [&](const std::string& text) {
    return card_text(rope_card(all)).find(text) != std::string::npos;
  };
  CHECK(contains("In short: it learns 2 of 3 tasks in distribution."));
  CHECK(contains(" no grid "));
  add_grids(all);
  CHECK(contains("It keeps twice the trained length on 2 of the 2 that have a grid of lengths: task0, task1."));
  for (ExperimentResult& experiment : all.report.experiments) {
    if (experiment.id.encoding != "rope") continue;
    for (const size_t split : {1, 2}) experiment.splits[split].sequence = {5, 100};
  }
  CHECK(contains("It has less than 0.10 of the sequences right out of distribution on 2: task0, task1."));
}

TEST_CASE("the card of an encoding without results names the command that makes some") {
  const BoardReport all = golden_board();
  const EncodingCard card = make_card("mine", all, make_board(all), golden_aspects());
  CHECK(card_text(card).find("'posbench run -e mine' makes some.") != std::string::npos);
  const std::string pair = "layers:of=(rope,none)";
  CHECK(card_text(make_card(pair, all, make_board(all), golden_aspects())).find("-e \"" + pair + "\"'") !=
        std::string::npos);
  const Page page = card_page(card);
  for (const Plot& plot : page.sections.at(0).plots) CHECK(plot.rows.empty());
}
