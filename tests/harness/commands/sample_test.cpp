// The samples that `sample` and `inspect` print have the requested length and the settings of the task.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "harness/config/config.h"
#include "harness/exchange/sample_set.h"
#include "results/json/json.h"
#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/harness/command.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

Json samples(const TemporaryDirectory& directory, const std::string& arguments) {
  const Outcome outcome = succeeded(directory, "sample --json -n 2 " + arguments);
  return Json::parse(outcome.out)["samples"];
}

}  // namespace

TEST_CASE("samples of every task at a length are scored, or the task refuses the length") {
  int refused = 0;
  for (const std::string& name : tasks().names()) {
    const TaskInfo& info = tasks().find(name).info;
    if (info.family.empty() || info.family == "test") continue;  // of another test
    const SampleSet set = make_sample_set(make_config({}), name, kInDistribution, 0, 0, 0);
    for (const int length : {1, 2, 3, 5, 10, 20, 50, 200}) {
      CAPTURE(name, length);
      try {
        set_length(*set.task, set.split, length);
      } catch (const InputError& error) {
        CHECK_FALSE(contains(std::string(error.what()), "\n"));
        ++refused;
        continue;
      }
      const Task& task = *set.task->tasks[set.split];
      for (std::uint64_t n = 0; n < 20; ++n) {
        const Example e = set.sample(n).example;
        REQUIRE_FALSE(e.scored.empty());
        REQUIRE(validate(e, task.vocabulary(), task.answers()).empty());
      }
    }
  }
  CHECK(refused > 50);
}

TEST_CASE("sample takes only a length that the task allows") {
  const TemporaryDirectory directory;
  for (const std::string arguments : {"mqar --length 1", "listops --length 20", "set_disjointness --length 50000",
                                      "flip_flop --length 1", "induction_heads --length 3 --split ood_far"}) {
    CAPTURE(arguments);
    CHECK(contains(refusal(directory, "sample -n 1 " + arguments), "length"));
  }
  for (const std::string split : {"train", "in_distribution", "ood_length"}) {
    for (const Json& sample : samples(directory, "last_x_retrieval --length 9 --split " + split))
      CHECK(sample["length"] == 9);
  }
  CHECK(samples(directory, "flip_flop --length 9") == samples(directory, "flip_flop:length=9"));
  CHECK(contains(posbench_command(directory, "sample cumulative_majority --length 1").out,
                 "sample 0, length 1, 1 token; *"));
}

TEST_CASE("sample has the settings and the splits that export has") {
  const TemporaryDirectory directory;
  for (const std::string arguments :
       {"flip_flop:model.begin_token=true,length=16 --split in_distribution",
        "reverse_string:model.attention=bidirectional --split validation",
        "reverse_string:length=1..10 --split ood_near", "flip_flop:training.samples=1 --split train",
        "flip_flop --seed 3 --split ood_sparse"}) {
    CAPTURE(arguments);
    const Outcome lines = succeeded(directory, "export -n 2 " + arguments);
    const std::string first = lines.out.substr(0, lines.out.find('\n')), second = lines.out.substr(first.size());
    const Json shown = samples(directory, arguments);
    CHECK(shown[0]["tokens"] == Json::parse(first)["tokens"]);
    CHECK(shown[1]["tokens"] == Json::parse(second)["tokens"]);
  }
  CHECK(succeeded(directory, "export flip_flop -n 2 --purpose test:ood_sparse").out ==
        succeeded(directory, "export flip_flop -n 2 --split ood_sparse").out);
  CHECK(samples(directory, "flip_flop:model.begin_token=true,length=16")[0]["tokens"].size() == 32);
  CHECK(samples(directory, "copy:model.attention=bidirectional") == samples(directory, "copy --layout slots"));
  CHECK(contains(refusal(directory, "sample lego:length=20 --split ood_length"), "from 2 to 26"));
  CHECK(contains(refusal(directory, "sample lego --split trian"), "(train, validation, its splits: "));
}
