#include "harness/commands/bench_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "harness/config/names.h"
#include "harness/console/output.h"
#include "harness/training/make_model.h"
#include "results/document/document.h"

namespace posbench {
namespace {

const std::vector<BenchmarkSize>& sizes() {
  static const std::vector<BenchmarkSize> sizes{{"quick", 2, 64, 4, 64, true, 32},
                                                {"che", 5, 64, 8, 40, false, 32},
                                                {"che", 5, 64, 8, 80, false, 32},
                                                {"cope", 4, 256, 4, 512, true, 2},
                                                {"tiny", 2, 16, 2, 20, true, 64}};
  return sizes;
}

}  // namespace

std::vector<BenchmarkSize> select_sizes(const BenchRequest& request) {
  std::vector<BenchmarkSize> selected;
  for (const std::string& name : split_list(request.sizes, ',')) {
    const size_t before = selected.size();
    for (const BenchmarkSize& size : sizes()) {
      if (name == "all" || name == size.name) selected.push_back(size);
    }
    if (selected.size() == before) {
      throw InputError(fmt::format("unknown size '{}'{} (sizes: quick, che, cope, tiny, all)", name,
                                   did_you_mean(name, {"quick", "che", "cope", "tiny"})));
    }
  }
  if (selected.empty()) throw InputError("--sizes is empty, expected quick, che, cope, tiny or all");
  if (request.batch > 0) {
    for (BenchmarkSize& size : selected) size.batch = request.batch;
  }
  if (request.lengths.empty()) return selected;
  std::vector<BenchmarkSize> at_lengths;
  for (const BenchmarkSize& size : selected) {
    if (!at_lengths.empty() && at_lengths.back().name == size.name) continue;
    for (const int length : request.lengths) {
      at_lengths.push_back(size);
      at_lengths.back().length = length;
      if (request.batch == 0) at_lengths.back().batch = std::max(1, size.batch * size.length / length);
    }
  }
  return at_lengths;
}

std::vector<Spec> select_encodings(const BenchRequest& request) {
  std::vector<Spec> specs{Spec::parse("none")};
  for (const Spec& spec : select_encodings(request.encodings.value_or(kBenchEncodings))) {
    if (spec.text() != "none") specs.push_back(spec);
  }
  return specs;
}

bool can_build(const Spec& encoding, const BenchmarkSize& size) {
  if (size.causal) return true;
  try {
    make_model(encoding, model_config(size));
    return true;
  } catch (const InputError&) {
    return false;
  }
}

void print(const BenchRequest& request, const Json& json, const std::vector<Table>& tables,
           const std::vector<std::string>& notes) {
  Document document;
  document.json = [&] { return json; };
  document.blocks.assign(tables.begin(), tables.end());
  for (const std::string& note : notes) document.blocks.emplace_back(Note{note});
  write_document({.format = request.json ? Format::json : Format::console, .color = request.color}, document);
}

}  // namespace posbench
