// The time of an experiment is the CPU time of its threads.
#include <barrier>
#include <cstddef>
#include <vector>

#include "base/system.h"
#include "base/thread_pool.h"
#include "harness/runs/suite.h"
#include "harness/training/run_experiment.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// Spends time on both threads of a pool after every step, and keeps the seconds of the experiment.
class Helped final : public ExperimentObserver {
 public:
  explicit Helped(ThreadPool& pool) : pool_(pool) {}

  void on_step(const Experiment&, const LearningRateSweep&) override {
    std::barrier both(2);  // a loop does not wait for a thread that starts late
    pool_.for_each(2, [&](size_t, size_t) {
      both.arrive_and_wait();
      const double start = thread_cpu_seconds();
      while (thread_cpu_seconds() - start < 0.005) {
      }
    });
  }
  void on_finished(const std::vector<ExperimentResult>&, double seconds) override { finished = seconds; }

  double finished = -1;

 private:
  ThreadPool& pool_;
};

}  // namespace

TEST_CASE("an experiment takes the CPU time of all its threads") {
  const Suite suite = make_suite(make_config({.profile = "smoke",
                                              .tasks = "even_pairs",
                                              .encodings = "none",
                                              .settings = {"training.groups=2", "training.batch=64"}}));
  IdleCores cores(1);
  ThreadPool pool(2, cores);
  Helped observer(pool);
  const double start = thread_cpu_seconds();
  REQUIRE(run_experiment(suite.experiments.at(0), observer, {}, pool));
  const double calling = thread_cpu_seconds() - start;
  const double without_helper = observer.finished - pool.helper_cpu_seconds();
  CHECK(pool.helper_cpu_seconds() > 20 * 0.005);  // 20 steps
  CHECK(without_helper <= calling);
  CHECK(without_helper > 0.8 * calling);
}
