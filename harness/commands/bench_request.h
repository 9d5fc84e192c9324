// Declares the options of `posbench bench`, and the sizes, encodings and output that all its measurements share.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/spec.h"
#include "harness/analysis/benchmark.h"
#include "results/document/table.h"
#include "results/json/json.h"

namespace posbench {

constexpr const char* kBenchEncodings = "none,sinusoidal,learned_abs,shaw_k,rope,alibi,cope";

struct BenchRequest {
  std::vector<int> lengths;        // empty: those of the sizes
  std::vector<int> jobs, threads;  // numbers of trainings at once; numbers of threads of one training
  std::string sizes = "all";
  std::optional<std::string> encodings;  // empty: kBenchEncodings
  int repetitions = 5;
  int batch = 0;         // 0: that of the size
  bool samples = false;  // measure sampling instead of training
  bool profile = false;  // measure the kinds of work of a step instead
  bool json = false;
  std::string color = "auto";
  std::vector<std::string> command;
};

/// Returns the requested sizes; with lengths, each size at each length, in batches of about as many tokens. Throws
/// InputError for an unknown size.
std::vector<BenchmarkSize> select_sizes(const BenchRequest&);
/// Returns the requested encodings after 'none', to which their costs are relative. Throws InputError for an
/// unknown encoding.
std::vector<Spec> select_encodings(const BenchRequest&);
/// Returns true if a model of this size can have the encoding. Some wrappers have a base that is defined for
/// causal models only.
bool can_build(const Spec& encoding, const BenchmarkSize&);
/// Prints the tables and the notes below them, or the JSON if it is requested.
void print(const BenchRequest&, const Json&, const std::vector<Table>&,
           const std::vector<std::string>& notes = {});

/// Measures the kinds of work of a training step (`--profile`).
void bench_profile(const BenchRequest&);

}  // namespace posbench
