// `posbench card`: one encoding on one page.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"
#include "harness/commands/commands.h"
#include "harness/config/embedded_data.h"
#include "harness/config/names.h"
#include "harness/console/command.h"
#include "harness/console/known_names.h"
#include "harness/console/output.h"
#include "harness/console/read_board.h"
#include "harness/runs/claims.h"
#include "harness/runs/page_options.h"
#include "results/document/wrap.h"
#include "results/json/json.h"
#include "results/presentation/board_text.h"
#include "results/presentation/claims_text.h"
#include "results/presentation/encoding_card.h"
#include "results/statistics/claims.h"

namespace posbench {
namespace {

struct CardRequest {
  std::string name;
  AddedReports reports;
  Output output;
};

bool is_about(const Claim& claim, const std::string& encoding) {
  const auto matches = [&](const ClaimCell* cell) { return spec_name(cell->encoding) == encoding; };
  return std::ranges::any_of(claim.rules,
                             [&](const Rule& rule) { return std::ranges::any_of(cells_of(rule), matches); });
}

/// Returns the claims about an encoding, with their verdicts.
std::vector<CardClaim> find_claims(const std::string& encoding) {
  std::vector<CardClaim> claims;
  for (const ClaimFile& file : claim_files()) {
    if (!is_about(file.claim, encoding)) continue;
    claims.push_back({file.claim.name, to_string(stored_result(file, ClaimSize::reduced).verdict),
                      to_string(stored_result(file, ClaimSize::full).verdict), file.claim.statement});
  }
  return claims;
}

/// Returns lines of an equation and a blank line.
std::string equation_text(const std::string& equation, Format format, const ConsoleStyle& style) {
  if (format == Format::latex) return "\\begin{verbatim}\n" + equation + "\n\\end{verbatim}\n\n";
  return "    " + (style.width == 0 ? indent_lines(equation, 4) : wrapped_lines(equation, 4, style.width)) +
         "\n\n";
}

std::string card_text(const EncodingCard& card, Format format, const ConsoleStyle& style) {
  std::string text = format == Format::markdown ? "# " : "";
  for (const CardPart& part : card_parts(card)) {
    text += line_text(part.text, format, style) + "\n\n";
    if (!part.equation.empty()) text += equation_text(part.equation, format, style);
    if (!part.table.columns.empty()) text += table_text(part.table, format, style) + "\n";
  }
  return text;
}

/// Describes an encoding that is registered, or that one of the user's reports has. Throws InputError for any
/// other name, and for options of an encoding without such a report.
EncodingDescription describe(const std::string& given, const BoardReport& board) {
  const bool is_users = std::ranges::any_of(
      board.user_experiments, [&](const ExperimentId& experiment) { return experiment.encoding == given; });
  const std::string name = is_users ? given : encoding_name(given);
  const std::string base = spec_name(name);
  if (is_users && !encodings().contains(base)) return {.name = name, .family = "of your report"};
  if (!encodings().contains(base)) refuse_recurrent_block(given);
  const EncodingInfo& info = encodings().find(base).info;
  if (!is_users && base != name) {
    throw InputError(fmt::format(
        "'{}' has options, but the board has default options only; 'posbench card {}' shows these", given, base));
  }
  return {name, to_string(info.family), info.equation, info.source, info.used_in};
}

void print_card(const CardRequest& request) {
  const Format chosen = output_format(request.output);
  if (chosen == Format::csv)
    throw InputError("a card needs --format console, markdown, latex, json or html; 'posbench board' writes csv");
  if (request.reports.paths.empty()) describe(request.name, {});  // refuses a name before anything is read
  const BoardReport all = read_board(request.reports);
  const EncodingDescription about = describe(request.name, all);
  const EncodingCard card = make_card(about, all, tasks_by_aspect(all), find_claims(about.name));
  if (chosen == Format::json) {
    const BoardTexts texts{.about = {}, .family = family_of, .style = {}, .cost_source = board_costs().source};
    return write_output(request.output, to_indented_json(to_json(card, texts)));
  }
  if (chosen == Format::html) return write_output(request.output, make_card_page(card));
  write_output(request.output, card_text(card, chosen, console_style(request.output)));
}

}  // namespace

void add_card(CommandLine& line) {
  const auto request = std::make_shared<CardRequest>();
  Command& command =
      line.add(kResults, "card", "Show one encoding on one page: scores by aspect, results on every task, claims");
  command.name("encoding", request->name, ValueKind::encoding, "name of an encoding, such as rope or t5")
      .required();
  add_reports(command, request->reports);
  add_output(command, request->output);
  command.explain({{"posbench card rope", "where it holds and where it fails, and at what cost"},
                   {"posbench card cope -o cope.html", "a page with plots"},
                   {"posbench card mine runs/mine", "an encoding of your own run"}});
  command.run([request] { print_card(*request); });
}

}  // namespace posbench
