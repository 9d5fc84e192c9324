// `posbench card`: one encoding on one page.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
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
#include "results/presentation/board_text.h"
#include "results/presentation/encoding_card.h"
#include "results/statistics/claims.h"

namespace posbench {
namespace {

struct CardRequest {
  std::string name;
  Output output;
};

bool is_about(const Claim& claim, const std::string& encoding) {
  const auto matches = [&](const ClaimCell* cell) { return spec_name(cell->encoding) == encoding; };
  return std::ranges::any_of(claim.rules,
                             [&](const Rule& rule) { return std::ranges::any_of(cells_of(rule), matches); });
}

/// Returns the claims about an encoding, with the verdicts of the reduced size.
std::vector<CardClaim> find_claims(const std::string& encoding) {
  const std::map<std::string, std::string> verdicts = stored_verdicts("reduced");
  std::vector<CardClaim> claims;
  for (const ClaimFile& file : claim_files()) {
    if (!is_about(file.claim, encoding)) continue;
    const auto verdict = verdicts.find(file.claim.name);
    claims.push_back({file.claim.name,
                      verdict == verdicts.end() ? to_string(ClaimVerdict::not_run) : verdict->second,
                      file.claim.statement});
  }
  return claims;
}

/// Returns lines of an equation between blank lines.
std::string equation_text(const std::string& equation, Format format) {
  if (format == Format::latex) return "\\begin{verbatim}\n" + equation + "\n\\end{verbatim}\n\n";
  return "    " + indent_lines(equation, 4) + "\n\n";
}

std::string card_text(const EncodingCard& card, Format format, const ConsoleStyle& style) {
  std::string text = format == Format::markdown ? "# " : "";
  for (const CardPart& part : card_parts(card)) {
    text += line_text(part.text, format, style) + "\n\n";
    if (!part.equation.empty()) text += equation_text(part.equation, format);
    if (!part.table.columns.empty()) text += table_text(part.table, format, style) + "\n";
  }
  return text;
}

void print_card(const CardRequest& request) {
  const Format chosen = output_format(request.output);
  if (chosen == Format::csv)
    throw InputError("a card needs --format console, markdown, latex, json or html; 'posbench board' writes csv");
  const Spec spec = Spec::parse(encoding_name(request.name));
  const std::string& name = spec.name;
  if (!spec.options.empty()) {
    throw InputError(
        fmt::format("'{}' has options, but the board has default options only; 'posbench card {}' shows these",
                    request.name, name));
  }
  const EncodingInfo& info = encodings().find(name).info;  // refuses an unknown name before anything is read
  const BoardReport all = read_board();
  const EncodingCard card = make_card({name, to_string(info.family), info.equation, info.source, info.used_in},
                                      all, tasks_by_aspect(all.report), find_claims(name));
  if (chosen == Format::json) {
    const BoardTexts texts{.about = {}, .family = family_of, .style = {}, .cost_source = board_costs().source};
    return write_output(request.output, to_indented_json(to_json(card, texts)));
  }
  if (chosen == Format::html) return write_output(request.output, make_card_page(card));
  write_output(request.output, card_text(card, chosen, console_style(request.output)));
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
                        {"posbench card cope -o cope.html", "a page with plots"}});
  command->callback([request] { print_card(*request); });
}

}  // namespace posbench
