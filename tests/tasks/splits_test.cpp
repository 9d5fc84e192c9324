// Tests splits that are relative to the trained values.
#include "tasks/splits.h"

#include <string>

#include "tasks/registry.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// Returns the value of an option that `value` means for a trained spec.
std::string at(const std::string& trained, const std::string& option, const std::string& value) {
  const Spec spec = Spec::parse(trained);
  return resolved(spec, tasks().find(spec.name).options, {"test", {{option, value}}, ""}).options[0].second;
}

}  // namespace

TEST_CASE("a factor of a split is a factor of the trained value") {
  CHECK(at("flip_flop", "length", "4x") == "128");
  CHECK(at("flip_flop:length=128", "length", "4x") == "512");
  CHECK(at("flip_flop:length=128", "length", "77") == "77");
  CHECK(at("flip_flop:p_ignore=0.4", "p_ignore", "0.5x") == "0.2");
  CHECK(at("mqar:pairs=3", "pairs", "2x") == "6");
  CHECK(at("even_pairs:length=1..40", "length", "1.05x/1.5x/2x/3x/4x/5x") == "42/60/80/120/160/200");
  CHECK(at("even_pairs:length=2", "length", "1.05x/1.5x/2x") ==
        "3/4");  // beyond the trained lengths, and each once
}

TEST_CASE("an interval begins beyond its first factor, and counts from 0 where values do") {
  CHECK(at("addition", "length", "1x..2x") == "9..16");
  CHECK(at("last_x_retrieval", "distance", "1x..2x") == "8..15");
  CHECK(at("last_x_retrieval", "distance", "2x") == "15");
  CHECK(at("last_x_retrieval:distance=0..15", "distance", "1x..2x") == "16..31");
  CHECK(at("counting:length=3..512", "length", "3..0.47x") == "3..241");
}

TEST_CASE("a value may be relative to another option") {
  CHECK(at("induction_heads:length=16", "farthest", "1x(length)-2") == "14");
  CHECK(at("last_x_retrieval:length=16", "distance", "1x(length)-2..4x(length)-2") == "15..62");
}

TEST_CASE("a text that is neither a value nor a factor is refused with a message") {
  CHECK_THROWS_WITH(at("flip_flop", "length", "4x(depth)"), "task 'flip_flop' has no option 'depth'");
  CHECK_THROWS_WITH(at("flip_flop", "length", "4x/2y"),
                    Catch::Matchers::StartsWith("length=2y: expected a value, or a factor"));
  CHECK_THROWS_WITH(at("flip_flop", "length", "2x..1x"), "length=2x..1x is empty: it would be 65 to 32");
  CHECK_THROWS_WITH(at("flip_flop", "p_ignore", "2x(length)"), ContainsSubstring("expected a value, or a factor"));
}

TEST_CASE("no split of a task has an absolute length") {
  for (const std::string& name : tasks().names()) {
    for (const TaskInfo::Split& split : tasks().find(name).info.splits) {
      for (const auto& [option, value] : split.options) {
        INFO(name << ", " << split.name << ", " << option << "=" << value << "; expected factors, as length=2x");
        CHECK((option != "length" || is_relative(split)));
      }
    }
  }
}
