#include "tests/encodings/checks/checks.h"

#include <fstream>
#include <set>
#include <string>

using namespace posbench;

namespace {

const Json& reference() {
  static const Json json =
      Json::parse(std::ifstream(POSBENCH_SOURCE_DIR "/tests/encodings/checks/encoding_checks.json"));
  return json;
}

}  // namespace

TEST_CASE("every field of the reference values is checked or is an input of a check") {
  for (const auto& [section, fields] : reference().items()) {
    if (section == "_meta") continue;
    INFO("section " << section);
    REQUIRE(check_sections().count(section) == 1);
    const CheckSection& checks = check_sections().at(section);
    const std::set<std::string> inputs(checks.inputs.begin(), checks.inputs.end());
    for (const auto& [field, value] : fields.items()) {
      INFO("field " << field);
      CHECK(inputs.count(field) + checks.fields.count(field) == 1);
    }
    CHECK(inputs.size() + checks.fields.size() == fields.size());
  }
}

TEST_CASE("reference values") {
  for (const auto& [section, checks] : check_sections()) {
    for (const auto& [field, check] : checks.fields) {
      DYNAMIC_SECTION(section << "." << field) { check(reference().at(section)); }
    }
  }
}
