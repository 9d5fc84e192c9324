// The certificate of a task finds the faults of a faulty task.
#include "harness/check/task_certificate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "base/parallel_for.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

struct UnfairOptions {
  Integers length{3};
  bool steady = true;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10, "tokens");
    o.flag("steady", steady, "the same seed gives the same sample");
  }
};

/// Answers 0 three times out of four. Without `steady`, the same seed gives a different sample each time.
class Unfair final : public AlphabetTask<UnfairOptions, "012"> {
 public:
  using AlphabetTask::AlphabetTask;
  double chance_level() const override { return 0.5; }
  Example sample(int length, Rng& rng) const override {
    const int token = options_.steady ? 0 : ++drawn_ % 2;
    return ask(layout_, std::vector<int>(length, token), 2, {bernoulli(rng, 0.25)});
  }

 private:
  mutable int drawn_ = 0;
};

}  // namespace

TEST_CASE("the certificate of a task reports a missing oracle, an unsteady generator and a too frequent answer") {
  tasks().add(
      "unfair",
      {TaskInfo{.name = "unfair", .splits = {{"in_distribution", {}, ""}}, .learnability = Learnability::open},
       {},
       [](const Spec& spec) { return make_canonical<Unfair::Options>(spec, "task"); },
       [](const Spec& spec, Layout layout) -> std::unique_ptr<Task> {
         return std::make_unique<Unfair>(read_options<Unfair::Options>(spec, "task"), layout);
       }});
  const auto has = [](const TaskCertificate& certificate, const std::string& message) {
    return std::ranges::any_of(certificate.faults,
                               [&](const std::string& fault) { return fault.find(message) != fault.npos; });
  };
  const TaskCertificate lopsided = certify_task("unfair"), unsteady = certify_task("unfair:steady=false");
  CHECK_FALSE(lopsided.passed());
  CHECK(has(lopsided, "no oracle is registered; add to harness/check/oracles/FAMILY.cpp"));
  CHECK(has(lopsided, "the task is marked open, but has no learnability_note; state the reason"));
  CHECK(has(lopsided, "split in_distribution: the fraction of one answer is 0.7"));
  CHECK_FALSE(has(lopsided, "the same seed"));
  CHECK(has(unsteady, "split in_distribution: the same seed gives a different sample 0"));
}

TEST_CASE("a marked task has a note that states the reason, and a learnable task has none") {
  CHECK(check_learnability({}).empty());
  CHECK(check_learnability({.learnability = Learnability::control, .learnability_note = "The paper says so."})
            .empty());
  CHECK(check_learnability({.learnability = Learnability::control}) ==
        "the task is marked control, but has no learnability_note; state the reason");
  CHECK(check_learnability({.learnability_note = "The paper says so."}) ==
        "the task is learnable, but has a learnability_note; remove it or set .learnability");
}

// Takes minutes: ctest runs it as the test task_certificates.
TEST_CASE("every task passes its certificate", "[.certificates]") {
  std::vector<std::string> names = tasks().names();
  std::erase_if(names, [](const std::string& name) { return tasks().find(name).info.family == "test"; });
  std::vector<TaskCertificate> certificates(names.size());
  parallel_for(names.size(), count_cores(), [&](size_t n) { certificates[n] = certify_task(names[n]); });
  for (size_t n = 0; n < names.size(); ++n) {
    INFO(names[n] << ": " << fmt::format("{}", fmt::join(certificates[n].faults, "\n")));
    CHECK(certificates[n].passed());
  }
}

TEST_CASE("a test stream that repeats training samples is excessive, and an independent one is not") {
  const auto task = tasks().find("parity_check").make(Spec{"parity_check", {}}, Layout::teacher_forced);
  const SampleStream training(*task, StreamId{}), test(*task, StreamId{Purpose::test}), fresh(*task, "fresh", 1);
  const auto trained = training_fingerprints(training);
  const Recurrence honest = recurrence(trained, test, fresh);
  CHECK_FALSE(honest.excessive());
  CHECK(honest.seen > 0);  // short questions recur
  CHECK(recurrence(trained, training, fresh).excessive());
}
