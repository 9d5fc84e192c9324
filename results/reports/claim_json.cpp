#include "results/reports/claim_json.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "results/reports/summary_json.h"

namespace posbench {
namespace {

const std::string kOwnSource = "this repository";
const std::vector<std::string> kReadFrom = {"paper text",  "authors' code",  "authors' output",
                                            "second-hand", "not read again", kOwnSource};

std::string text_or(const Field& field, const char* key, const std::string& otherwise = "") {
  return field.has(key) ? field[key].text() : otherwise;
}

/// Returns the number under a key that may be missing or null.
std::optional<double> number_or_nothing(const Field& field, const char* key, double low, double high) {
  if (!field.has(key) || field[key].null()) return std::nullopt;
  return field[key].number(low, high);
}

ClaimCell read_cell(const Field& field, const ClaimFile& file) {
  ClaimCell cell{.task = field["task"].name(),
                 .encoding = field["encoding"].name(),
                 .split = field["split"].name(),
                 .learned_from = number_or_nothing(field, "learned_from", 0, 1)};
  if (!file.tasks.contains(cell.task)) field["task"].fail("expected a name of 'tasks'");
  return cell;
}

Rule read_rule(const Field& field, const ClaimFile& file) {
  field.refuse_other_keys({"level", "order"});
  if (field.has("level")) {
    const Field level = field["level"];
    level.refuse_other_keys({"task", "encoding", "split", "learned_from", "at_least", "at_most"});
    LevelRule rule{.cell = read_cell(level, file),
                   .at_least = number_or_nothing(level, "at_least", 0, 1),
                   .at_most = number_or_nothing(level, "at_most", 0, 1)};
    if (rule.at_least.has_value() == rule.at_most.has_value()) level.fail("expected either at_least or at_most");
    return rule;
  }
  const Field order = field["order"];
  const Field high = order["high"], low = order["low"];
  order.refuse_other_keys({"high", "low", "gap", "least"});
  for (const Field* cell : {&high, &low}) cell->refuse_other_keys({"task", "encoding", "split", "learned_from"});
  OrderRule rule{.high = read_cell(high, file),
                 .low = read_cell(low, file),
                 .gap = number_or_nothing(order, "gap", 0, 1),
                 .least = order["least"].number(0, 1)};
  if (rule.gap && file.claim.kind == ClaimKind::own_statement)
    order["gap"].fail("expected none, since an own statement has no published difference");
  return rule;
}

/// Returns the one of these whose text is under the key.
template <class T, size_t N>
T read_one_of(const T (&known)[N], const Field& field, const char* key) {
  std::vector<std::string> names;
  for (const T one : known) names.push_back(to_string(one));
  return known[field[key].choice(names)];
}

/// Reads the kind of a claim and how its source was read. Its published numbers must have been read already.
void read_origin(const Field& field, Claim& claim) {
  claim.kind = read_one_of(kClaimKinds, field, "kind");
  claim.read_from = kReadFrom[field["read_from"].choice(kReadFrom)];
  claim.read_where = field["read_where"].name();
  if (claim.kind == ClaimKind::published_number && claim.published.empty())
    field["kind"].fail("expected numbers in 'published'");
  if (claim.kind == ClaimKind::own_statement && !claim.published.empty())
    field["kind"].fail("expected no numbers in 'published'");
  if ((claim.kind == ClaimKind::own_statement) != (claim.read_from == kOwnSource)) {
    field["read_from"].fail(fmt::format("expected '{}' for the kind '{}', and for no other", kOwnSource,
                                        to_string(ClaimKind::own_statement)));
  }
}

Published read_published(const Field& item, const ClaimFile& file) {
  item.refuse_other_keys({"what", "encoding", "value", "task", "split"});
  Published published{item["what"].text(), item["encoding"].name(), item["value"].number(-1e9, 1e9),
                      text_or(item, "task"), text_or(item, "split")};
  if (!published.task.empty() && !file.tasks.contains(published.task))
    item["task"].fail("expected a name of 'tasks'");
  return published;
}

ClaimSetting read_setting(const Field& field) {
  field.refuse_other_keys({"profile", "config", "seeds", "differs", "not_comparable"});
  if (field.has("not_comparable")) return {.differs = field["not_comparable"].text(), .comparable = false};
  const Field config = field["config"];
  return {.profile = field["profile"].name(),
          .config = config.object(),
          .seeds = fmt::format("{}", field["seeds"].integer(kClaimSeeds, 1000)),
          .differs = text_or(field, "differs")};
}

/// Reads the registration of a confirmation, and adds its setting and tasks, which are those of the size it names.
void read_confirmation(const Field& field, ClaimFile& file) {
  field.refuse_other_keys({"frozen", "claim", "rules", "size", "seeds"});
  file.claim.confirm = {field["frozen"].name(), field["claim"].text(), field["rules"].text()};
  const auto size = static_cast<ClaimSize>(field["size"].choice({"reduced", "full"}));
  ClaimSetting& setting = file.settings[ClaimSize::confirmation] = file.settings.at(size);
  if (!setting.comparable) field.fail("expected a size that can judge the claim");
  setting.seeds = field["seeds"].name();
  for (auto& [name, specs] : file.tasks) specs[ClaimSize::confirmation] = specs.at(size);
}

Json write_cell(const ClaimCell& cell, Metric metric) {
  return {{"task", cell.task},
          {"encoding", cell.encoding},
          {"split", cell.split},
          {"evidence", evidence_key(cell, metric)}};
}

std::optional<Interval> read_interval(const Field& rule, const char* key) {
  if (!rule.has(key) || rule[key].null()) return std::nullopt;
  const Field interval = rule[key];
  return Interval{interval["low"].number(-1, 1), interval["high"].number(-1, 1)};
}

Json write_rule(const Rule& rule, const RuleResult& result, Metric metric) {
  Json json;
  if (const auto* order = std::get_if<OrderRule>(&rule)) {
    json["high"] = write_cell(order->high, metric);
    json["low"] = write_cell(order->low, metric);
    json["published_gap"] = six_decimals_or_null(order->gap);
    json["least"] = order->least;
    json["difference"] = six_decimals_or_null(result.difference);
    json["mean_difference"] = six_decimals_or_null(result.mean_difference);
    json["interval"] = write_interval(result.interval);
    json["p_above_least"] = six_decimals_or_null(result.p_above_least);
    json["p_below_zero"] = six_decimals_or_null(result.p_below_zero);
    json["p_below_least"] = six_decimals_or_null(result.p_below_least);
  } else {
    const auto& level = std::get<LevelRule>(rule);
    json["cell"] = write_cell(level.cell, metric);
    json["at_least"] = six_decimals_or_null(level.at_least);
    json["at_most"] = six_decimals_or_null(level.at_most);
    json["reached"] = result.reached ? Json(result.reached->correct) : Json(nullptr);
    json["seeds"] = result.reached ? Json(result.reached->total) : Json(nullptr);
  }
  json["fraction"] = write_interval(result.fraction);
  json["verdict"] = to_string(result.verdict);
  json["by_itself"] = to_string(result.by_itself);
  json["reason"] = result.reason;
  json["seeds_needed"] = result.seeds_needed ? Json(*result.seeds_needed) : Json(nullptr);
  return json;
}

Json write_claim(const Claim& claim, const ClaimResult& result) {
  Json json;
  json["name"] = claim.name;
  json["statement"] = claim.statement;
  json["family"] = claim.family;
  json["source"] = claim.source;
  json["kind"] = to_string(claim.kind);
  json["read_from"] = claim.read_from;
  json["read_where"] = claim.read_where;
  json["published"] = write_list(claim.published, [](const Published& published) {
    Json json{{"what", published.what}, {"encoding", published.encoding}, {"value", published.value}};
    if (!published.task.empty()) json["task"] = published.task;
    if (!published.split.empty()) json["split"] = published.split;
    return json;
  });
  json["differs"] = claim.differs;
  json["metric"] = to_string(claim.metric);
  json["verdict"] = to_string(result.verdict);
  json["by_itself"] = to_string(result.by_itself);
  json["reason"] = result.reason;
  if (claim.confirm) {
    json["confirm"] = {
        {"frozen", claim.confirm->frozen}, {"claim", claim.confirm->claim}, {"rules", claim.confirm->rules}};
  }
  json["rules"] = Json::array();
  for (size_t i = 0; i < claim.rules.size(); ++i) {
    json["rules"].push_back(write_rule(claim.rules[i], result.rules[i], claim.metric));
  }
  return json;
}

RuleResult read_rule_result(const Field& rule) {
  constexpr std::int64_t kMostSeeds = 1'000'000;
  RuleResult result{.verdict = read_one_of(kClaimVerdicts, rule, "verdict"),
                    .by_itself = read_one_of(kClaimVerdicts, rule, "by_itself"),
                    .reason = rule["reason"].text(),
                    .fraction = read_interval(rule, "fraction"),
                    .difference = number_or_nothing(rule, "difference", -1, 1),
                    .mean_difference = number_or_nothing(rule, "mean_difference", -1, 1),
                    .interval = read_interval(rule, "interval"),
                    .p_above_least = number_or_nothing(rule, "p_above_least", -1, 1),
                    .p_below_zero = number_or_nothing(rule, "p_below_zero", -1, 1),
                    .p_below_least = number_or_nothing(rule, "p_below_least", -1, 1),
                    .reached = {},
                    .seeds_needed = {}};
  if (rule.has("reached") && !rule["reached"].null())
    result.reached = {rule["reached"].integer(0, kMostSeeds), rule["seeds"].integer(0, kMostSeeds)};
  if (!rule["seeds_needed"].null())
    result.seeds_needed = static_cast<int>(rule["seeds_needed"].integer(0, kMostSeeds));
  return result;
}

Evidence read_one_evidence(const Field& item) {
  const Field seeds = item["seeds"], values = item["values"];
  Evidence evidence{
      .seeds = read_list<std::uint64_t>(seeds, [](const Field& seed) { return seed.natural(); }),
      .values = read_list<double>(values, [](const Field& accuracy) { return accuracy.number(0, 1); }),
      .learned = {}};
  const auto total = static_cast<std::int64_t>(evidence.seeds.size());
  evidence.learned.seeds = {item["learned"].integer(0, total), total};
  if (!item["late_gain"].null()) evidence.learned.late_gain = item["late_gain"].number(-1, 1);
  if (item.has("failed")) evidence.failed = item["failed"].integer(0, total);
  evidence.in_distribution = number_or_nothing(item, "in_distribution", 0, 1);
  evidence.floor = item["floor"].number(0, 1);
  return evidence;
}

}  // namespace

std::string to_string(ClaimSize size) {
  constexpr const char* kNames[] = {"reduced", "full", "confirmation"};
  return kNames[static_cast<size_t>(size)];
}

ClaimFile read_claim(const Json& json, const std::string& name) {
  const std::string path = name + ".json";
  const Field field(json, path);
  field.refuse_other_keys({"statement", "family", "source", "kind", "read_from", "read_where", "published",
                           "metric", "tasks", "reduced", "full", "rules", "confirm"});
  ClaimFile file;
  file.claim = {.name = name,
                .statement = field["statement"].text(),
                .family = field["family"].name(),
                .source = field["source"].text()};
  if (field.has("metric")) file.claim.metric = static_cast<Metric>(field["metric"].choice({"sequence", "token"}));
  const Field tasks = field["tasks"], reduced = field["reduced"], full = field["full"], rules = field["rules"];
  for (const auto& [task, specs] : tasks.object().items()) {
    const Field spec = tasks[task.c_str()];
    if (!specs.is_string()) spec.refuse_other_keys({"reduced", "full"});
    const std::string at_full = specs.is_string() ? spec.name() : spec["full"].name();
    const std::string at_reduced = specs.is_string() ? at_full : spec["reduced"].name();
    file.tasks[task] = {{ClaimSize::reduced, at_reduced}, {ClaimSize::full, at_full}};
  }
  const auto read_one = [&](const Field& item) { return read_published(item, file); };
  if (field.has("published")) file.claim.published = read_list<Published>(field["published"], read_one);
  read_origin(field, file.claim);
  file.has_one_size = json["reduced"].is_string();
  if (file.has_one_size) reduced.choice({"full"});
  const ClaimSetting at_full = read_setting(full);
  file.settings = {{ClaimSize::reduced, file.has_one_size ? at_full : read_setting(reduced)},
                   {ClaimSize::full, at_full},
                   {ClaimSize::confirmation, {.differs = "no confirmation is registered", .comparable = false}}};
  file.claim.rules = read_list<Rule>(rules, [&](const Field& rule) { return read_rule(rule, file); });
  if (file.claim.rules.empty()) rules.fail("expected one rule or more");
  if (field.has("confirm")) read_confirmation(field["confirm"], file);
  return file;
}

Json to_json(std::span<const Claim> claims, std::span<const ClaimResult> results, const AllEvidence& all,
             ClaimSize size, double alpha) {
  Json json;
  json["schema_version"] = 2;
  json["size"] = to_string(size);
  json["alpha"] = alpha;
  json["claims"] = Json::array();
  for (size_t i = 0; i < claims.size(); ++i) json["claims"].push_back(write_claim(claims[i], results[i]));
  json["evidence"] = Json::object();
  for (const auto& [key, evidence] : all) {
    json["evidence"][key] = {{"seeds", evidence.seeds},
                             {"values", write_list(evidence.values, six_decimals)},
                             {"learned", evidence.learned.seeds.correct},
                             {"late_gain", six_decimals_or_null(evidence.learned.late_gain)},
                             {"in_distribution", six_decimals_or_null(evidence.in_distribution)},
                             {"floor", six_decimals(evidence.floor)}};
    if (evidence.failed > 0) json["evidence"][key]["failed"] = evidence.failed;
  }
  return json;
}

JudgedClaims read_judged_claims(const Json& json, const std::string& file) {
  const Field field(json, file);
  const Field claims = field["claims"], evidence = field["evidence"];
  JudgedClaims judged;
  claims.each([&](const Field& claim) {
    const Field rules = claim["rules"];
    judged.results[claim["name"].name()] = {.verdict = read_one_of(kClaimVerdicts, claim, "verdict"),
                                            .by_itself = read_one_of(kClaimVerdicts, claim, "by_itself"),
                                            .reason = claim["reason"].text(),
                                            .rules = read_list<RuleResult>(rules, read_rule_result)};
  });
  for (const auto& [key, value] : evidence.object().items())
    judged.evidence[key] = read_one_evidence(evidence[key.c_str()]);
  return judged;
}

}  // namespace posbench
