#include "results/presentation/board_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/presentation/accuracy_text.h"
#include "results/statistics/compare.h"
#include "results/statistics/tiers.h"

namespace posbench {
namespace {

constexpr double kKept = 0.9;  // an accuracy from which a task counts as kept

bool any(const Board& board, Standing standing) {
  for (const BoardTask& task : board.tasks) {
    for (const BoardRow& row : task.rows) {
      if (row.standing == standing) return true;
    }
  }
  return false;
}

std::string name(const BoardRow& row) { return row.own ? row.encoding + " *" : row.encoding; }

double worst(const BoardRow& row) { return *std::min_element(row.values.begin(), row.values.end()); }
double best(const BoardRow& row) { return *std::max_element(row.values.begin(), row.values.end()); }

/// "0.93", and for what was not learned how much the end of training gained: "0.93 (+0.05)".
std::string in_distribution_text(const BoardRow& row) {
  if (!row.in_distribution) return "-";
  const std::string text = accuracy_text(*row.in_distribution);
  if (row.standing != Standing::not_learned || !row.learned.late_gain) return text;
  return fmt::format("{} ({:+.2f})", text, *row.learned.late_gain);
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.6g}", *value) : ""; }

Json number_or_null(const std::optional<double>& value) {
  return value ? Json(std::round(*value * 1e6) / 1e6) : Json(nullptr);
}

Json write_row(const BoardRow& row, const BoardWords& words) {
  Json json;
  json["encoding"] = row.encoding;
  json["family"] = words.family ? words.family(row.encoding) : "";
  json["own"] = row.own;
  json["tier"] = row.tier ? Json(*row.tier) : Json(nullptr);
  json["standing"] = row.tier ? "in tier" : standing_text(row);
  json["mean"] = number_or_null(row.mean);
  json["values"] = Json::array();
  for (const double value : row.values) json["values"].push_back(number_or_null(value));
  json["in_distribution"] = number_or_null(row.in_distribution);
  json["learned"] = row.learned.seeds.correct;
  json["late_gain"] = number_or_null(row.learned.late_gain);
  json["unfinished"] = row.unfinished;
  json["cost"] = number_or_null(row.cost);
  return json;
}

}  // namespace

std::string split_title(const BoardTask& task) {
  return task.splits.size() == 1           ? task.splits.front()
         : task.split == "in_distribution" ? "in distribution"
                                           : "out of distribution";
}

std::string standing_text(const BoardRow& row) {
  if (row.standing == Standing::not_learned) return "not learned";
  return row.tier ? fmt::format("tier {}", *row.tier) : "few seeds";
}

std::string cost_text(const BoardRow& row) { return row.cost ? fmt::format("{:.1f}x", *row.cost) : ""; }

std::string who_has_it(const BoardTask& task, const BoardOptions& options) {
  size_t learned = 0;
  std::vector<std::string> keep;
  const BoardRow* first = nullptr;
  for (const BoardRow& row : task.rows) {
    learned += row.learned.most();
    if (row.standing == Standing::not_learned) continue;
    if (!first || row.mean > first->mean) first = &row;
    if (row.mean >= kKept) keep.push_back(row.encoding);
  }
  std::string text = fmt::format("{} of {} encodings learn it in distribution", learned, task.rows.size());
  if (!first) return text + ".";
  const std::string of = fmt::format("{}, {}", info(options.metric).title, split_title(task));
  if (keep.empty()) {
    return fmt::format("{}; none has {:.2f} of {}: the best is {} with {}.", text, kKept, of, first->encoding,
                       accuracy_text(first->mean));
  }
  constexpr size_t kNamed = 12;
  const size_t named = std::min(keep.size(), kNamed);
  std::string names = fmt::format("{}", fmt::join(std::span(keep).first(named), ", "));
  if (keep.size() > named) names += fmt::format(" and {} more", keep.size() - named);
  return fmt::format("{}; {} {} {:.2f} or more of {}: {}.", text, keep.size(), keep.size() == 1 ? "has" : "have",
                     kKept, of, names);
}

Table board_table(const BoardTask& task) {
  const auto seeds = [](const BoardRow& row) { return row.values.size(); };
  const bool differ = std::any_of(task.rows.begin(), task.rows.end(),
                                  [&](const BoardRow& row) { return seeds(row) != seeds(task.rows.front()); });
  Table table{{{"tier"}, {"encoding"}, {split_title(task), Align::right}}, {}};
  if (differ || task.rows.empty()) {
    table.columns.push_back({"worst to best seed", Align::right});
    table.columns.push_back({"seeds", Align::right});
  } else {
    table.columns.push_back({fmt::format("worst to best of {} seeds", seeds(task.rows.front())), Align::right});
  }
  table.columns.push_back({"in distribution", Align::right});
  table.columns.push_back({"cost", Align::right});
  for (const BoardRow& row : task.rows) {
    const bool unknown = row.standing == Standing::not_learned;
    const Tone tone = unknown ? Tone::faint : row.tier == 1 ? Tone::good : Tone::plain;
    std::vector<Cell> cells{
        Cell{row.tier ? fmt::format("{}", *row.tier) : standing_text(row), tone}, name(row),
        unknown ? "-" : accuracy_text(row.mean),
        unknown ? "-" : fmt::format("{} to {}", accuracy_text(worst(row)), accuracy_text(best(row)))};
    if (differ) cells.push_back(fmt::format("{}", seeds(row)));
    cells.push_back(in_distribution_text(row));
    cells.push_back(row.cost ? cost_text(row) : "-");
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> tier_lines(const BoardTask& task) {
  std::vector<std::string> lines;
  for (auto begin = task.rows.begin(); begin != task.rows.end();) {
    const auto end = std::find_if(
        begin, task.rows.end(), [&](const BoardRow& row) { return standing_text(row) != standing_text(*begin); });
    std::vector<std::string> names;
    for (auto row = begin; row != end; ++row)
      names.push_back(row->cost ? name(*row) + " " + cost_text(*row) : name(*row));
    std::string range;
    if (begin->standing != Standing::not_learned) {
      const std::string low = accuracy_text(std::prev(end)->mean), high = accuracy_text(begin->mean);
      range = low == high ? fmt::format(" ({})", low) : fmt::format(" ({} to {})", low, high);
    }
    lines.push_back(fmt::format("{}{}: {}", standing_text(*begin), range, fmt::join(names, ", ")));
    begin = end;
  }
  return lines;
}

Table board_csv(const Board& board, const BoardWords& words) {
  Table table{{{"task"}, {"split"}, {"encoding"}, {"family"}, {"own"}, {"standing"}}, {}};
  for (const char* header : {"tier", "mean", "worst", "best", "seeds", "in_distribution", "learned", "late_gain",
                             "unfinished", "cost"}) {
    table.columns.push_back({header, Align::right});
  }
  for (const BoardTask& task : board.tasks) {
    for (const BoardRow& row : task.rows) {
      table.rows.push_back({task.task, task.split, row.encoding, words.family ? words.family(row.encoding) : "",
                            row.own ? "yes" : "no", row.tier ? "in tier" : standing_text(row),
                            row.tier ? fmt::format("{}", *row.tier) : "", number(row.mean), number(worst(row)),
                            number(best(row)), fmt::format("{}", row.values.size()), number(row.in_distribution),
                            fmt::format("{}", row.learned.seeds.correct), number(row.learned.late_gain),
                            fmt::format("{}", row.unfinished), number(row.cost)});
    }
  }
  return table;
}

std::vector<std::string> board_notes(const Board& board, const BoardWords& words) {
  std::vector<std::string> notes = {fmt::format("Values: {}, mean over seeds and over the splits that are named.",
                                                info(board.options.metric).title)};
  if (any(board, Standing::in_tier)) {
    notes.push_back(fmt::format(
        "tier: the seeds cannot tell these encodings from the best of them (exact permutation tests at 5 %, "
        "corrected by Benjamini and Hochberg), or the means are less than {} apart. All encodings of the task "
        "are compared, shown or not.",
        kTierDifference));
  }
  if (any(board, Standing::too_few_seeds)) {
    notes.push_back(
        fmt::format("few seeds: fewer than {}, with which no test can tell encodings apart.", kEnoughSeeds));
  }
  if (any(board, Standing::not_learned)) {
    notes.push_back(fmt::format(
        "not learned: most seeds are under {} in distribution, so nothing follows out of it; in brackets, the gain of "
        "validation in the last {:.0f} % of training.",
        kLearned, 100 * kLateTraining));
  }
  bool has_own = false, has_cost = false;
  for (const BoardTask& task : board.tasks) {
    for (const BoardRow& row : task.rows) has_own = has_own || row.own, has_cost = has_cost || row.cost;
  }
  if (has_cost)
    notes.push_back("cost: core time of a training step, plain attention is 1; " + words.cost_source + ".");
  if (has_own) {
    notes.push_back(
        "*: from your reports. A cost that was not measured there follows from the seconds of their experiments, tests "
        "included, beside those of encodings whose cost is known.");
  }
  return notes;
}

Json to_json(const Board& board, const BoardWords& words, const std::vector<std::string>& warnings) {
  Json json;
  json["schema_version"] = 1;
  json["split"] = board.options.split;
  json["metric"] = to_text(board.options.metric);
  json["cost_source"] = words.cost_source;
  json["tasks"] = Json::array();
  for (const BoardTask& task : board.tasks) {
    Json item;
    item["task"] = task.task;
    item["about"] = words.about ? words.about(task.task) : "";
    item["who_has_it"] = who_has_it(task, board.options);
    item["splits"] = task.splits;
    item["rows"] = write_list(task.rows, [&](const BoardRow& row) { return write_row(row, words); });
    json["tasks"].push_back(std::move(item));
  }
  json["warnings"] = warnings;
  return json;
}

}  // namespace posbench
