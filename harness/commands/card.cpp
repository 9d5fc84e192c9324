// `posbench card`: one encoding on one page: its equation, its scores by aspect, its results on every task of the
// board, the encodings like it and the claims about it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/printable.h"
#include "base/text.h"
#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/config/embedded_data.h"
#include "harness/config/names.h"
#include "harness/console/help.h"
#include "harness/console/output.h"
#include "harness/console/read_board.h"
#include "harness/console/terminal.h"
#include "harness/runs/claims.h"
#include "harness/runs/page_options.h"
#include "results/json/json.h"
#include "results/presentation/accuracy_text.h"
#include "results/presentation/board_text.h"
#include "results/presentation/encoding_overview.h"
#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"

namespace posbench {
namespace {

constexpr int kFewTasks = 3;  // encodings that share fewer tasks are not called equal

struct CardRequest {
  std::string name;
  Output output;
};

struct Card {
  const EncodingEntry& entry;
  std::string encoding;  // as the board names it
  std::vector<AspectScore> aspects;
  Board board;                     // with the rows of this encoding alone
  std::vector<std::string> equal;  // encodings in the same tier on all tasks that both have
  std::vector<std::pair<const Claim*, std::string>> claims;  // about it, with the verdicts of the reduced size
};

/// Returns the encodings that share at least kFewTasks tiers with this one and are in no other tier on any task.
std::vector<std::string> find_equal(const Board& board, const std::string& encoding) {
  std::map<std::string, std::pair<int, int>> shared;  // tasks on which both have a tier, and the same tier
  for (const BoardTask& task : board.tasks) {
    const auto own = std::ranges::find(task.rows, encoding, &BoardRow::encoding);
    if (own == task.rows.end() || !own->tier) continue;
    for (const BoardRow& row : task.rows) {
      if (row.encoding == encoding || !row.tier) continue;
      auto& [both, same] = shared[row.encoding];
      ++both;
      same += row.tier == own->tier ? 1 : 0;
    }
  }
  std::vector<std::string> equal;
  for (const auto& [name, counts] : shared) {
    if (counts.first >= kFewTasks && counts.first == counts.second) equal.push_back(name);
  }
  return equal;
}

bool is_about(const Claim& claim, const std::string& encoding) {
  const auto matches = [&](const ClaimCell& cell) { return spec_name(cell.encoding) == encoding; };
  return std::ranges::any_of(claim.rules, [&](const Rule& rule) {
    if (const auto* order = std::get_if<OrderRule>(&rule)) return matches(order->high) || matches(order->low);
    return matches(std::get<LevelRule>(rule).cell);
  });
}

Card make_card(const std::string& name, const BoardReport& all) {
  Card card{.entry = encodings().find(name), .encoding = name, .board = make_board(all)};
  card.aspects = score_aspects(all.report, name, tasks_by_aspect(all.report));
  card.equal = find_equal(card.board, name);
  for (BoardTask& task : card.board.tasks)
    std::erase_if(task.rows, [&](const BoardRow& row) { return row.encoding != name; });
  std::erase_if(card.board.tasks, [](const BoardTask& task) { return task.rows.empty(); });
  const std::map<std::string, std::string> verdicts = kept_verdicts("reduced");
  for (const ClaimFile& file : claim_files()) {
    if (!is_about(file.claim, name)) continue;
    const auto verdict = verdicts.find(file.claim.name);
    card.claims.emplace_back(&file.claim,
                             verdict == verdicts.end() ? to_string(ClaimVerdict::not_run) : verdict->second);
  }
  return card;
}

Table aspect_table(const std::vector<AspectScore>& scores) {
  Table table{{{"aspect"},
               {"score", Align::right},
               {"95 %", Align::right},
               {"tasks", Align::right},
               {"learned", Align::right}},
              {}};
  for (const AspectScore& score : scores) {
    table.rows.push_back({score.aspect, accuracy_text(score.mean),
                          fmt::format("{:.2f} to {:.2f}", score.interval.low, score.interval.high),
                          fmt::format("{}", score.tasks), fmt::format("{}", score.learned)});
  }
  return table;
}

Table claims_table(const Card& card) {
  Table table{{{"claim"}, {"verdict"}, {"statement"}}, {}};
  for (const auto& [claim, verdict] : card.claims) table.rows.push_back({claim->name, verdict, claim->statement});
  return table;
}

/// A paragraph, and a table below it if there is one.
struct Part {
  std::string text;
  Table table;
};

std::vector<Part> make_parts(const Card& card) {
  const EncodingInfo& info = card.entry.info;
  std::vector<Part> parts{{fmt::format("{} (encoding, {})", info.name, to_string(info.family)), {}},
                          {"Source: " + info.source, {}}};
  if (!info.used_in.empty()) parts.push_back({fmt::format("Used in: {}.", fmt::join(info.used_in, ", ")), {}});
  if (card.board.tasks.empty()) {
    parts.push_back(
        {fmt::format("The board has no result of it. 'posbench run -e {}' makes some.", info.name), {}});
  } else {
    parts.push_back(
        {"Scores by aspect: token accuracy out of distribution, rescaled so that the best trivial predictor "
         "has 0 and the right answers have 1, mean over tasks. Tasks that were not learned count with their accuracy. The interval "
         "is a bootstrap over tasks and seeds.",
         aspect_table(card.aspects)});
    parts.push_back({overview_text(card.board), {}});
    for (OverviewTable& part : overview_tables(card.board)) parts.push_back({part.title, std::move(part.table)});
    if (!card.equal.empty()) {
      parts.push_back(
          {fmt::format("In the same tier on every task that both have: {}.", fmt::join(card.equal, ", ")), {}});
    }
  }
  if (!card.claims.empty())
    parts.push_back({"Claims about it, with the verdicts of the kept runs:", claims_table(card)});
  return parts;
}

std::string card_text(const Card& card, bool markdown, const ConsoleStyle& style) {
  const int width = style.width == 0 ? kPipedWidth : style.width;
  std::string text;
  for (const Part& part : make_parts(card)) {
    if (text.empty() && markdown) text += "# ";
    const bool is_title = text.empty() || text == "# ";
    text += (markdown ? escape_markdown(part.text) : wrap_text(to_printable(part.text), 0, width)) + "\n\n";
    if (is_title) text += "    " + indent_lines(card.entry.info.equation, 4) + "\n\n";
    if (part.table.columns.empty()) continue;
    text += (markdown ? to_markdown(part.table) : to_console_text(part.table, style)) + "\n";
  }
  return text;
}

Json to_json(const Card& card, const BoardTexts& texts) {
  const EncodingInfo& info = card.entry.info;
  Json json;
  json["encoding"] = info.name;
  json["family"] = to_string(info.family);
  json["equation"] = info.equation;
  json["source"] = info.source;
  json["used_in"] = info.used_in;
  json["aspects"] = write_list(card.aspects, [](const AspectScore& score) {
    return Json{{"aspect", score.aspect},      {"score", score.mean},  {"low", score.interval.low},
                {"high", score.interval.high}, {"tasks", score.tasks}, {"learned", score.learned}};
  });
  json["board"] = posbench::to_json(card.board, texts, {});
  json["equal"] = card.equal;
  json["claims"] = write_list(card.claims, [](const auto& claim) {
    return Json{{"claim", claim.first->name}, {"verdict", claim.second}, {"statement", claim.first->statement}};
  });
  return json;
}

void print_card(const CardRequest& request) {
  const Format chosen = output_format(request.output);
  if (chosen == Format::csv || chosen == Format::html)
    throw InputError("a card needs --format console, markdown or json; 'posbench board' writes csv and html");
  const std::string name = Spec::parse(encoding_name(request.name)).name;
  encodings().find(name);  // refuses an unknown name before anything is read
  const Card card = make_card(name, read_board());
  if (chosen == Format::json) {
    const BoardTexts texts{.about = {}, .family = family_of, .style = {}, .cost_source = board_costs().source};
    return write_output(request.output, to_indented_json(to_json(card, texts)));
  }
  write_output(request.output, card_text(card, chosen == Format::markdown, console_style(request.output)));
}

}  // namespace

void add_card(CLI::App& app, Invocation&) {
  const auto request = std::make_shared<CardRequest>();
  CLI::App* command =
      app.add_subcommand("card", "Show one encoding on one page: scores by aspect, results on every task, claims")
          ->group(kResults);
  command->add_option("encoding", request->name, "name of an encoding, such as rope or t5")->required();
  add_output(*command, request->output);
  set_footer(*command, {{"posbench card rope", "where it holds and where it fails, and at what cost"},
                        {"posbench card cope -o cope.md", "the same as Markdown"}});
  command->callback([request] { print_card(*request); });
}

}  // namespace posbench
