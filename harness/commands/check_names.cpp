// `posbench check NAME`: the certificates of encodings and tasks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "harness/check/certificate_json.h"
#include "harness/check/certify.h"
#include "harness/check/task_certificate.h"
#include "harness/commands/check_forms.h"
#include "harness/commands/describe.h"
#include "harness/config/names.h"
#include "harness/console/known_names.h"
#include "harness/console/progress.h"
#include "results/json/json.h"

namespace posbench {
namespace {

/// Returns the specs of encodings and tasks that are named, each once, or all.
std::vector<std::string> specs(std::vector<std::string> names) {
  if (names.empty()) names = {"*"};
  std::vector<std::string> known = encodings().names_with_presets(), specs;
  const std::vector<std::string> more = tasks().names();
  known.insert(known.end(), more.begin(), more.end());
  const auto add = [&](const std::string& spec) {
    if (std::find(specs.begin(), specs.end(), spec) == specs.end()) specs.push_back(spec);
  };
  for (const std::string& name : names) {
    if (name.find_first_of("*?[") < name.find(':')) {
      const std::vector<std::string> matches = matching(name, known);
      for (const std::string& match : matches) add(match);
      if (matches.empty())
        throw InputError(fmt::format(
            "'{}' matches no encoding or task; 'posbench list encodings' and 'list tasks' show all", name));
      continue;
    }
    const std::string bare_name = Spec::parse(name).name;
    const bool encoding = encodings().contains(encoding_name(bare_name));
    if (!encoding && !tasks().contains(task_name(bare_name))) {
      throw InputError(
          fmt::format("no encoding or task is called '{}'{} ('posbench list encodings' and 'list tasks' show all)",
                      bare_name, did_you_mean(bare_name, known_names(ValueKind::subject))));
    }
    add(encoding ? read_encoding(name).text() : read_task(name).task.text());
  }
  return specs;
}

/// Adds the registered variants of each encoding after it.
std::vector<std::string> with_variants(const std::vector<std::string>& specs) {
  std::vector<std::string> all;
  for (const std::string& spec : specs) {
    all.push_back(spec);
    if (!encodings().contains(spec)) continue;  // a task, or a spec with options
    for (const std::string& options : encodings().find(spec).info.variants) all.push_back(spec + ":" + options);
  }
  return all;
}

using Blocks = std::vector<Document::Block>;

Text headline(bool passed, const std::string& name, const std::string& text) {
  return {fmt::format("{} {} ({})", passed ? "pass" : "FAIL", name, text)};
}

std::string text_of(const Worst& worst) { return fmt::format("{:.1e}: {}", worst.error, worst.where); }

Facts property_facts(const PropertyReport& report) {
  const Properties& p = report.measured;
  if (!report.not_measured.empty()) return {{{"properties", "not measured: " + report.not_measured}}};
  return {{{"distinct", fmt::format("{} ({} of {}, {} of {})", report.distinct.measured, p.distinct, p.trained,
                                    p.distinct_far, p.longest)},
           {"extrapolates", fmt::format("{} (beyond the trained length {} untrained rows, scores {:+.0f} %)",
                                        report.extrapolates.measured, p.untrained_rows, 100 * p.growth)},
           {"relative", fmt::format("{} (change {:.1e})", report.relative.measured, p.moved)},
           {"distance decay",
            fmt::format("{} ({:.0f} % of heads)", report.distance_decay.measured, 100 * p.falling)}}};
}

Blocks blocks_of(const EncodingCertificate& c) {
  if (!c.failure.empty()) return {headline(false, c.encoding, c.failure)};
  Table gradients{{{"attention"}, {"norm"}, {"worst error", Align::right}, {"in"}}, {}};
  for (const GradientReport& gradient : c.gradients) {
    gradients.rows.push_back({gradient.causal ? "causal" : "bidirectional", gradient.pre_norm ? "pre" : "post",
                              fmt::format("{:.1e}", gradient.worst.error), gradient.worst.where});
  }
  Facts facts{{{"causal", c.causal ? "bit for bit" : "NO"},
               {"finite", c.finite ? "at length 1 and at 4 times the trained length" : "NO"},
               {"output change", fmt::format("{:.1e} if tokens are reordered, {:.1e} if positions are shifted",
                                             c.order_sensitivity, c.shift_sensitivity)}}};
  for (Fact& fact : property_facts(c.properties).facts) facts.facts.push_back(std::move(fact));
  Blocks blocks{headline(c.passed, c.encoding, "worst gradient error " + text_of(c.worst)), std::move(gradients),
                std::move(facts)};
  if (Spec::parse(c.encoding).options.empty()) {
    for (const std::string& correction : c.properties.corrections)
      blocks.emplace_back(Note{"correct the registration: " + correction});
  }
  return blocks;
}

/// Describes the certificates of many models of one encoding.
Blocks blocks_of(const std::string& encoding, const std::string& what, const ModelsCertificate& c) {
  const std::string refused = c.refused > 0 ? fmt::format("; {} refused", c.refused) : "";
  Blocks blocks{headline(
      c.passed(), encoding,
      fmt::format("{} models {}: worst gradient error {}{}", c.certificates, what, text_of(c.worst), refused))};
  for (const std::string& failure : c.failures) blocks.emplace_back(Note{failure});
  return blocks;
}

/// Returns a row for each split: its answers, and the best predictors of one feature.
Table answers_table(const std::vector<SplitCertificate>& splits) {
  Table table{{{"split"}}, {}};
  for (const char* header : {"most frequent answer", "declared", "in training", "by chance"})
    table.columns.push_back({header, Align::right});
  for (const Shortcut& shortcut : splits.front().shortcuts) table.columns.push_back({shortcut.kind, Align::right});
  for (const SplitCertificate& split : splits) {
    const MeasuredFraction& largest = *split.largest_answer_fraction;
    std::vector<Cell> row{split.baseline.name, fmt::format("{:.3f}", largest.measured),
                          fmt::format("{:.3f}", largest.declared), fmt::format("{:.4f}", split.seen_in_training),
                          fmt::format("{:.4f}", split.seen_by_chance)};
    for (const Shortcut& s : split.shortcuts)
      row.emplace_back(fmt::format("{:.3f} of {:.3f}", s.accuracy.measured, s.accuracy.declared));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string summary(const TaskCertificate& c) {
  if (c.oracle)
    return fmt::format("compared with the oracle on {} samples of each split, {}", c.samples,
                       fmt::join(c.layouts, " and "));
  if (c.samples == 0) return "not tested";
  const bool is_default = Spec::parse(c.task).options.empty();
  return fmt::format("not compared with an oracle{}", is_default ? "" : ", which knows the task without options");
}

Blocks blocks_of(const TaskCertificate& c) {
  Blocks blocks{headline(c.passed(), c.task, summary(c))};
  for (const std::string& fault : c.faults) blocks.emplace_back(Note{fault});
  TaskBaseline baseline{.task = c.task};
  for (const SplitCertificate& split : c.splits) baseline.splits.push_back(split.baseline);
  if (baseline.splits.empty()) return blocks;
  blocks.emplace_back(baseline_table(baseline));
  const auto is_measured = [](const SplitCertificate& s) { return s.largest_answer_fraction.has_value(); };
  if (!std::ranges::all_of(c.splits, is_measured)) return blocks;
  blocks.emplace_back(answers_table(c.splits));
  blocks.emplace_back(Note{fmt::format(
      "in training: fraction of the samples that also occur among {} training samples; by chance: of fresh samples. The last "
      "columns have the accuracy of the best predictor of one feature, and the one that is declared.",
      c.splits.front().training_samples)});
  return blocks;
}

/// Returns the specs that are names of encodings.
std::vector<std::string> encodings_among(const std::vector<std::string>& specs) {
  std::vector<std::string> names;
  for (const std::string& spec : specs) {
    if (encodings().contains(spec)) names.push_back(spec);
  }
  return names;
}

/// A subject of a certificate.
struct Item {
  enum class Kind { encoding, task, block_options, pairs } kind;
  std::string name;        // a spec; for pairs the composition
  std::string first = "";  // for pairs: the first member
  bool last = true;        // for pairs: the last item of this composition
};

/// A certificate as the output has it. Those of many models are added up before they are written.
struct Certificate {
  bool passed = false;
  Json json = {};
  Blocks blocks = {};
  ModelsCertificate models = {};
};

Certificate certify(const Item& item) {
  if (item.kind == Item::Kind::block_options) return {.models = certify_blocks(Spec::parse(item.name))};
  if (item.kind == Item::Kind::pairs) return {.models = certify_pairs(item.name, item.first)};
  if (item.kind == Item::Kind::encoding) {
    const EncodingCertificate c = certify(Spec::parse(item.name));
    return {c.passed, to_json(c), blocks_of(c), {}};
  }
  const TaskCertificate c = certify_task(item.name);
  return {c.passed(), to_json(c), blocks_of(c), {}};
}

/// Returns the items in the order of the output.
std::vector<Item> items(const CheckRequest& request) {
  std::vector<std::string> checked = specs(request.subjects);
  if (request.variants) checked = with_variants(checked);
  std::vector<Item> items;
  for (const std::string& spec : checked) {
    const bool encoding = encodings().contains(Spec::parse(spec).name);
    items.push_back({encoding ? Item::Kind::encoding : Item::Kind::task, spec});
  }
  if (!request.variants) return items;
  const std::vector<std::string> names = encodings_among(checked), all = encodings().names();
  for (const std::string& name : names) items.push_back({Item::Kind::block_options, name});
  for (const std::string& name : names) {
    if (encodings().find(name).members({name, {}}).size() < 2) continue;
    for (const std::string& first : all) items.push_back({Item::Kind::pairs, name, first, first == all.back()});
  }
  return items;
}

/// Calls take(n, make(n)) for n = 0 ... count - 1 in this order, while other threads make later items.
void in_order(size_t count, int jobs, const std::function<Certificate(size_t)>& make,
              const std::function<void(size_t, const Certificate&)>& take) {
  std::mutex mutex;
  std::map<size_t, Certificate> made;
  size_t next = 0;
  parallel_for(count, jobs, [&](size_t n) {
    Certificate certificate = make(n);
    const std::lock_guard lock(mutex);
    made.emplace(n, std::move(certificate));
    for (; made.contains(next); ++next) take(next, made.extract(next).mapped());
  });
}

/// Collects the certificates. Without a format each one is written when it is made.
class Findings {
 public:
  explicit Findings(const Output& output) : output_(output) {}

  void add(const Item& item, const Certificate& certificate) {
    const bool is_pairs = item.kind == Item::Kind::pairs;
    if (!is_pairs && item.kind != Item::Kind::block_options)
      return add("certificates", certificate.json, certificate.blocks, certificate.passed);
    models_.add(certificate.models);
    if (!item.last) return;
    (is_pairs ? pairs_ : block_options_) += models_.certificates;
    Json json = to_json(models_);
    json["encoding"] = item.name;
    add(is_pairs ? "pairs" : "block_options", json,
        blocks_of(item.name, is_pairs ? "over pairs of encodings" : "with options of blocks", models_),
        models_.passed());
    models_ = {};
  }

  /// Writes what is not written yet.
  void finish(bool variants) {
    if (variants)
      show({Text{
          fmt::format("{} models with options of blocks, {} over pairs of encodings", block_options_, pairs_)}});
    if (output_.format) write_document(output_, document_);
  }

  bool passed() const { return passed_; }

 private:
  void show(Blocks blocks) {
    if (output_.format) {
      std::ranges::move(blocks, std::back_inserter(document_.blocks));
      return;
    }
    if (std::exchange(is_begun_, true)) write_stdout("\n");
    write_document(output_, {.title = "", .blocks = std::move(blocks)});
    std::fflush(stdout);
  }

  void add(const char* key, Json json, Blocks blocks, bool passed) {
    passed_ = passed_ && passed;
    result_[key].push_back(std::move(json));
    show(std::move(blocks));
  }

  const Output& output_;
  bool passed_ = true, is_begun_ = false;
  int block_options_ = 0, pairs_ = 0;  // models
  Json result_{{"certificates", Json::array()}};
  Document document_{.title = "", .blocks = {}, .json = [this] { return result_; }};
  ModelsCertificate models_;  // the sum over the items of an encoding so far
};

}  // namespace

int check_names(const CheckRequest& request) {
  const std::vector<Item> all = items(request);
  Findings findings(request.output);
  {
    Progress status("checking");
    status.set_progress(0, all.size());
    const auto make = [&](size_t n) {
      status.set_text("checking " + all[n].name + (all[n].first.empty() ? "" : " over " + all[n].first));
      return certify(all[n]);
    };
    in_order(all.size(), request.jobs > 0 ? request.jobs : count_cores(), make,
             [&](size_t n, const Certificate& certificate) {
               status.clear();
               findings.add(all[n], certificate);
               status.set_progress(n + 1, all.size());
             });
  }
  findings.finish(request.variants);
  return findings.passed() ? 0 : 1;
}

}  // namespace posbench
