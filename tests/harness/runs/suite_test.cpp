#include "harness/runs/suite.h"

#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"
#include "harness/runs/run_directory.h"
#include "tests/catch.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

/// Throws Error when a model with this encoding reads a sequence, if the option `throws` is set.
template <class Error>
class Throwing final : public PositionEncoding {
 public:
  struct Options {
    bool throws = false;
    void describe(OptionTable& o) { o.flag("throws", throws, "exception for each sequence"); }
  };
  Throwing(const Options& options, const ModelConfig& config, ParameterLayout&)
      : PositionEncoding(config), throws_(options.throws) {}
  void embed(const Sequence&, const Parameters&, const Tables&, Matrix&, Matrices&) const override {
    if (throws_) throw Error("thrown by the test");
  }

 private:
  bool throws_;
};

EncodingInfo info(const char* name) {
  return {.name = name, .family = Family::absolute, .equation = "-", .source = "this test"};
}

const RegisterEncoding<Throwing<std::logic_error>> defect{info("test_defect")};
const RegisterEncoding<Throwing<InputError>> invalid{info("test_invalid")};

/// Appends results to a run directory.
class Appender final : public ExperimentObserver {
 public:
  explicit Appender(RunDirectory& directory) : directory_(directory) {}
  void on_finished(const std::vector<ExperimentResult>& results, double seconds) override {
    for (const ExperimentResult& result : results) directory_.append(result, seconds);
  }

 private:
  RunDirectory& directory_;
};

Suite small_suite(const std::string& encodings) {
  return make_suite(make_config({.profile = "smoke", .tasks = "parity_check", .encodings = encodings}));
}

/// Runs a suite into the folder "run".
void run_into(const TemporaryDirectory& base, const Suite& suite) {
  RunDirectory directory(base / "run", Existing::refuse, {.experiments = ids(suite.experiments)});
  Appender observer(directory);
  run_suite(suite.experiments, 1, std::stop_source(), observer);
}

}  // namespace

TEST_CASE("a defect in one experiment ends the run, and finished experiments stay on disk") {
  const TemporaryDirectory base;
  CHECK_THROWS_AS(run_into(base, small_suite("none,test_defect:throws=true,rope")), std::logic_error);
  const RunRecord record = read_run(base / "run");
  REQUIRE(record.finished.size() == 1);
  CHECK(record.finished.begin()->first.encoding == "none");
  CHECK(record.finished.begin()->second.result.status == Status::ok);
}

TEST_CASE("an invalid input in one experiment makes its result failed, and the run continues") {
  const TemporaryDirectory base;
  run_into(base, small_suite("none,test_invalid:throws=true,rope"));
  const RunRecord record = read_run(base / "run");
  REQUIRE(record.finished.size() == 3);
  const ExperimentResult& failed = record.finished.at({"parity_check", "test_invalid:throws=true", 0}).result;
  CHECK(failed.status == Status::failed);
  CHECK(failed.reason == "thrown by the test");
  CHECK(record.finished.at({"parity_check", "rope", 0}).result.status == Status::ok);
}

TEST_CASE("an exception of an observer ends the run") {
  class Full final : public ExperimentObserver {
    void on_finished(const std::vector<ExperimentResult>&, double) override {
      throw FileError("the disk is full");
    }
  };
  Full observer;
  std::stop_source stop;
  CHECK_THROWS_AS(run_suite(small_suite("none,rope").experiments, 1, stop, observer), FileError);
  CHECK(stop.stop_requested());
}
