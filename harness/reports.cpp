#include "harness/reports.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "results/compare_text.h"
#include "results/report_table.h"

namespace posbench {
namespace {

/// What cannot be read or compared is the user's to mend.
template <class F>
auto as_input(F f) {
  try {
    return f();
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(error.what());
  }
}

Report read(const std::filesystem::path& path) {
  return as_input([&] { return read_report(std::filesystem::is_directory(path) ? path / "report.json" : path); });
}

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
}

}  // namespace

int compare(const CompareRequest& request) {
  const Report baseline = read(request.baseline);
  const NamedReport named_baseline{request.baseline.string(), baseline};
  std::vector<Report> reports;
  for (const auto& path : request.candidates) reports.push_back(read(path));
  std::vector<NamedReport> candidates;
  for (size_t n = 0; n < reports.size(); ++n) candidates.push_back({request.candidates[n].string(), reports[n]});
  CompareOptions options = request.options;
  for (const std::string& match : request.match)
    options.match.push_back(parse_match(match, named_baseline, candidates));
  const Comparison comparison = as_input([&] { return compare(named_baseline, candidates, options); });
  switch (request.format) {
    case Format::console:
      print(console(comparison, request.color));
      break;
    case Format::markdown:
      print(markdown(comparison));
      break;
    case Format::csv:
      print(csv(comparison_table(comparison)));
      break;
    case Format::json:
      print(pretty(to_json(comparison)));
      break;
  }
  return request.fail_on_regression && regression(comparison) ? 1 : 0;
}

void report(const std::filesystem::path& path, Format format, bool color) {
  const Report report = read(path);
  const Summary summary = summarize(report);
  const std::vector<Table> tables{accuracy_table(summary), ranking_table(summary), unfinished_table(report)};
  switch (format) {
    case Format::csv:
      return print(csv(split_table(summary)));
    case Format::json:
      return print(pretty(to_json(report)["summary"]));
    case Format::console:
    case Format::markdown:
      break;
  }
  for (const Table& table : tables) {
    if (table.rows.empty()) continue;
    print((format == Format::markdown ? markdown(table) : console(table, {0, color})) + "\n");
  }
  for (const std::string& note : accuracy_notes(summary)) print(note);
}

}  // namespace posbench
