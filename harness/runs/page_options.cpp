#include "harness/runs/page_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "encodings/registry.h"
#include "harness/exchange/saved_model.h"

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

}  // namespace

std::string family_of(const std::string& encoding) {
  const std::string name = encoding.substr(0, std::min(encoding.find_first_of(": "), encoding.find("->")));
  return encodings().contains(name) ? to_string(encodings().find(name).info.family) : "other";
}

fs::path inspection_path(const fs::path& run, const ExperimentId& id) {
  return run / "inspect" / (file_stem(id) + ".html");
}

PageOptions page_options(std::span<const NamedReport> runs, const fs::path& page) {
  PageOptions options{.family = family_of, .inspections = {}};
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
