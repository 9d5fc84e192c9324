#include "results/reports/experiment_lines.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel_for.h"
#include "results/json/json.h"
#include "results/reports/experiment_json.h"

namespace posbench {

ExperimentLines::int_type ExperimentLines::underflow() {
  while (gptr() == egptr() && std::getline(source_, line_)) {
    if (!source_.eof()) line_ += '\n';
    passed_.clear();
    pass_line();
    setg(passed_.data(), passed_.data(), passed_.data() + passed_.size());
  }
  return gptr() == egptr() ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

void ExperimentLines::pass_line() {
  if (place_ == Place::inside) return pass_item_line();
  if (place_ == Place::before && (line_ == "\"experiments\": [\n" || line_ == " \"experiments\": [\n"))
    place_ = Place::inside;
  passed_ = line_;
}

/// Takes an experiment out of the text, except for the last one, which no comma follows.
void ExperimentLines::pass_item_line() {
  constexpr size_t kBatch = 1024;
  const size_t begin = std::min(line_.find_first_not_of(' '), line_.size() - 1);
  const bool is_first = item_.empty();
  if (is_first) indent_ = begin;
  item_ += line_;
  if (line_.ends_with("},\n") && (is_first ? line_[begin] == '{' : begin == indent_)) {
    item_.resize(item_.size() - 2);
    items_.push_back(std::exchange(item_, {}));
    if (items_.size() == kBatch) read_batch();
  } else if (is_first ? line_[begin] != '{' : begin <= indent_) {
    place_ = Place::after;
    passed_ = std::exchange(item_, {});
  }
}

void ExperimentLines::read_batch() {
  constexpr size_t kWorthAThread = 32;
  const size_t first = experiments_.size(), threads = std::max<size_t>(items_.size() / kWorthAThread, 1);
  experiments_.resize(first + items_.size());
  parallel_for(items_.size(), std::min(static_cast<int>(threads), count_cores()),
               [&](size_t n) { experiments_[first + n] = experiment_from_json(parse_json(items_[n], ""), ""); });
  items_.clear();
}

std::vector<ExperimentResult> ExperimentLines::finish() {
  read_batch();
  return std::move(experiments_);
}

}  // namespace posbench
