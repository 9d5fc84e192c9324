// `posbench check NAME`: the certificates of encodings and tasks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/parallel_for.h"
#include "encodings/registry.h"
#include "harness/check/certificate_json.h"
#include "harness/check/certify.h"
#include "harness/check/task_certificate.h"
#include "harness/commands/check_forms.h"
#include "harness/config/names.h"
#include "harness/console/known_names.h"
#include "harness/console/message.h"
#include "harness/console/output.h"
#include "harness/console/status_line.h"
#include "results/document/wrap.h"
#include "results/json/json.h"
#include "tasks/registry.h"

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

/// Prints a line from a column on. A terminal breaks it.
void print_line(const std::string& text, size_t column = 0) {
  print_text("{:{}}{}\n", "", column, wrapped_lines(text, column, list_width()));
}

void print_detail(const std::string& text) { print_line(text, 7); }

void print_properties(const EncodingCertificate& c) {
  const PropertyReport& report = c.properties;
  const Properties& p = report.measured;
  if (!report.not_measured.empty()) return print_detail("properties not measured: " + report.not_measured);
  print_detail(fmt::format(
      "positions distinct: {} ({} of {}, {} of {}); in range beyond the trained length: {} ({} untrained rows, scores "
      "{:+.0f} %)",
      report.distinct.measured, p.distinct, p.trained, p.distinct_far, p.longest, report.extrapolates.measured,
      p.untrained_rows, 100 * p.growth));
  print_detail(fmt::format("relative only: {} (change {:.1e}); weaker with distance: {} ({:.0f} % of heads)",
                           report.relative.measured, p.moved, report.distance_decay.measured, 100 * p.falling));
  if (!Spec::parse(c.encoding).options.empty()) return;
  for (const std::string& correction : report.corrections) print_detail("correct the registration: " + correction);
}

std::string_view verdict(bool passed) { return passed ? "pass" : "FAIL"; }

void print(const EncodingCertificate& c) {
  if (!c.failure.empty()) return print_line(fmt::format("FAIL {:<44} {}", c.encoding, c.failure));
  print_line(fmt::format("{} {:<44} worst gradient error {:.1e} ({})", verdict(c.passed), c.encoding,
                         c.worst.error, c.worst.where));
  for (const GradientReport& gradient : c.gradients) {
    print_text("       {:<14} {:<5} {:.1e}  {}\n", gradient.causal ? "causal" : "bidirectional",
               gradient.pre_norm ? "pre" : "post", gradient.worst.error, gradient.worst.where);
  }
  const auto yes = [](bool measured) { return measured ? "yes" : "NO"; };
  print_detail(fmt::format(
      "causal bit for bit: {}; finite at length 1 and at 4 times the trained length: {}; output change when "
      "tokens are reordered: {:.1e}, when all positions are shifted: {:.1e}",
      yes(c.causal), yes(c.finite), c.order_sensitivity, c.shift_sensitivity));
  print_properties(c);
}

/// Prints the certificates of many models of one encoding.
void print(const std::string& encoding, const std::string& what, const ModelsCertificate& c) {
  print_line(fmt::format("{} {:<44} {} models {}: worst gradient error {:.1e} ({}){}", verdict(c.passed()),
                         encoding, c.certificates, what, c.worst.error, c.worst.where,
                         c.refused > 0 ? fmt::format("; {} refused", c.refused) : ""));
  for (const std::string& failure : c.failures) print_detail(failure);
}

void print(const SplitCertificate& split) {
  constexpr size_t kColumn = 28;
  const auto print_lines = [](const std::string& first, const std::string& text) {
    print_text("       {:<20} {}\n", first, wrapped_lines(text, kColumn, list_width()));
  };
  std::string trivial;
  for (const auto& [view, accuracy] : split.baseline.trivial)
    trivial += fmt::format("  {} {:.3f}", view, accuracy);
  print_lines(split.baseline.name, fmt::format("chance {:.3f}{}", split.baseline.chance, trivial));
  if (!split.largest_answer_fraction) return;
  print_lines(
      "", fmt::format("most frequent answer {:.3f}, declared {:.3f}; also among {} training samples {:.4f}, by "
                      "chance {:.4f}",
                      split.largest_answer_fraction->measured, split.largest_answer_fraction->declared,
                      split.training_samples, split.seen_in_training, split.seen_by_chance));
  std::string shortcuts;
  for (const Shortcut& s : split.shortcuts)
    shortcuts += fmt::format("  {} {:.3f} of {:.3f}", s.kind, s.accuracy.measured, s.accuracy.declared);
  print_lines("", "best predictor of one feature, measured of declared:" + shortcuts);
}

void print(const TaskCertificate& c) {
  print_line(fmt::format("{} {:<32} {}", verdict(c.passed()), c.task,
                         c.oracle         ? fmt::format("compared with the oracle on {} samples of each split, {}",
                                                        c.samples, fmt::join(c.layouts, " and "))
                         : c.samples == 0 ? "not tested"
                         : Spec::parse(c.task).options.empty()
                             ? "not compared with an oracle"
                             : "not compared with an oracle, which knows the task without these options"));
  for (const std::string& fault : c.faults) print_detail(fault);
  for (const SplitCertificate& split : c.splits) print(split);
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

using Certificate = std::variant<EncodingCertificate, TaskCertificate, ModelsCertificate>;

Certificate certify(const Item& item) {
  switch (item.kind) {
    case Item::Kind::encoding:
      return certify(Spec::parse(item.name));
    case Item::Kind::task:
      return certify_task(item.name);
    case Item::Kind::block_options:
      return certify_blocks(Spec::parse(item.name));
    case Item::Kind::pairs:
      return certify_pairs(item.name, item.first);
  }
  return {};
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

/// Collects the certificates, and prints each one unless the output is JSON.
class Findings {
 public:
  explicit Findings(bool json) : json_(json) {}

  void add(const Item& item, const Certificate& certificate) {
    switch (item.kind) {
      case Item::Kind::encoding:
        add(std::get<EncodingCertificate>(certificate), std::get<EncodingCertificate>(certificate).passed);
        break;
      case Item::Kind::task:
        add(std::get<TaskCertificate>(certificate), std::get<TaskCertificate>(certificate).passed());
        break;
      case Item::Kind::block_options:
        models_ +=
            add("block_options", item.name, "with options of blocks", std::get<ModelsCertificate>(certificate));
        break;
      case Item::Kind::pairs:
        composition_.add(std::get<ModelsCertificate>(certificate));
        if (item.last)
          pairs_ += add("pairs", item.name, "over pairs of encodings", std::exchange(composition_, {}));
        break;
    }
    std::fflush(stdout);
  }

  /// Prints the end of the output.
  void finish(bool variants) {
    if (json_) return fmt::print("{}\n", result_.dump(2));
    if (variants) print_text("{} models with options of blocks, {} over pairs of encodings\n", models_, pairs_);
  }

  bool passed() const { return passed_; }

 private:
  void add(const auto& certificate, bool passed) {
    passed_ = passed_ && passed;
    result_["certificates"].push_back(to_json(certificate));
    if (!json_) print(certificate);
  }

  /// Returns the number of certificates.
  int add(const char* key, const std::string& name, const std::string& what, const ModelsCertificate& models) {
    passed_ = passed_ && models.passed();
    if (!json_) print(name, what, models);
    Json json = to_json(models);
    json["encoding"] = name;
    result_[key].push_back(std::move(json));
    return models.certificates;
  }

  bool json_, passed_ = true;
  int models_ = 0, pairs_ = 0;
  Json result_{{"certificates", Json::array()}};
  ModelsCertificate composition_;  // the sum over the pairs so far
};

}  // namespace

int check_names(const CheckRequest& request) {
  const std::vector<Item> all = items(request);
  Findings findings(request.json);
  {
    StatusLine status("checking");
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
