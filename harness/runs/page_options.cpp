#include "harness/runs/page_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "encodings/registry.h"
#include "harness/config/embedded_data.h"
#include "harness/exchange/checksum.h"
#include "harness/exchange/saved_model.h"
#include "results/json/json.h"

namespace posbench {
namespace {

namespace fs = std::filesystem;

/// Returns a relative path as a link.
std::string link_to(const fs::path& path) {
  std::string link;
  for (const char c : path.generic_string()) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string_view("/-._~").find(c) != std::string_view::npos;
    link += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return link;
}

std::string registered_name(const std::string& encoding) {
  return encoding.substr(0, std::min(encoding.find_first_of(": "), encoding.find("->")));
}

/// Returns the encodings of the default profile, which are on most pages, then all others.
std::vector<std::string> names_by_style() {
  std::vector<std::string> names = parse_json(profiles().at("quick"), "quick")["encodings"];
  for (const std::string& name : encodings().names()) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// Returns the path at which a page of `posbench inspect` about an experiment is looked for.
fs::path inspection_path(const fs::path& run, const ExperimentId& id) {
  return run / "inspect" / (file_stem(id) + ".html");
}

}  // namespace

int style_of(const std::string& encoding) {
  static const std::vector<std::string> kNames = names_by_style();
  const auto found = std::find(kNames.begin(), kNames.end(), registered_name(encoding));
  const auto number = static_cast<int>(found - kNames.begin());
  if (found != kNames.end()) return number;
  constexpr std::uint32_t kOthers = 1000;  // by name, so that an encoding of the user has one style on all pages
  return number + static_cast<int>(crc32_after(0, encoding) % kOthers);
}

std::string family_of(const std::string& encoding) {
  const std::string name = registered_name(encoding);
  return encodings().contains(name) ? to_string(encodings().find(name).info.family) : "other";
}

PageOptions page_options(std::span<const NamedReport> runs, const fs::path& page) {
  PageOptions options{.family = family_of, .style = style_of, .inspections = {}};
  const fs::path from = fs::absolute(page).parent_path();
  for (const NamedReport& run : runs) {
    const fs::path directory = fs::is_directory(run.name) ? fs::path(run.name) : fs::path(run.name).parent_path();
    if (!fs::is_directory(directory / "inspect")) continue;
    for (const ExperimentResult& experiment : run.report.experiments) {
      const fs::path file = inspection_path(directory, experiment.id);
      if (fs::exists(file))
        options.inspections[{run.name, experiment.id}] = link_to(fs::absolute(file).lexically_relative(from));
    }
  }
  return options;
}

}  // namespace posbench
