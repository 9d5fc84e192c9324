#include "results/document/site.h"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "results/document/page.h"
#include "results/document/page_template.h"

namespace posbench {
namespace {

/// Returns a name that every file system and address accepts.
std::string to_file_name(const std::string& name) {
  constexpr size_t kMost = 120;
  std::string safe;
  for (const char c : name.substr(0, kMost)) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) || std::string_view("._-").find(c) != std::string_view::npos;
    safe += is_plain ? c : '-';
  }
  if (safe.empty() || safe[0] == '.') safe.insert(safe.begin(), '-');
  return safe;
}

std::string folder_of(Names kind) {
  switch (kind) {
    case Names::encodings:
      return "encodings";
    case Names::tasks:
      return "tasks";
    case Names::claims:
      return "claims";
    case Names::none:
      break;
  }
  throw std::logic_error("a page of a name has no folder");
}

SiteFile make_licenses_page() {
  Page page{.title = "Licenses of Vega and D3"};
  page.notes = {
      "Vega, Copyright 2015-2022 University of Washington Interactive Data Lab, BSD-3-Clause; in it D3, Copyright "
      "2010-2022 Mike Bostock, ISC. The file files/vega.js has their code."};
  const size_t begin = kPageTemplate.rfind("<pre>"), end = kPageTemplate.rfind("</pre>");
  page.content = fmt::format("<pre class=\"block\" tabindex=\"0\">{}</pre>\n",
                             kPageTemplate.substr(begin + 5, end - begin - 5));
  return {"licenses.html", to_html(page, {""})};
}

}  // namespace

SiteAddresses::SiteAddresses(std::span<const SiteEntry> entries) {
  std::set<std::string> taken;  // in lower case, because some file systems ignore case
  for (const SiteEntry& entry : entries) {
    const std::string stem = folder_of(entry.kind) + "/" + to_file_name(entry.name);
    std::string address = stem + ".html";
    for (int number = 2; !taken.insert(lower_case(address)).second; ++number)
      address = fmt::format("{}-{}.html", stem, number);
    addresses_[{entry.kind, entry.name}] = address;
  }
}

std::string SiteAddresses::find(Names kind, std::string name) const {
  auto found = addresses_.find({kind, name});
  const size_t end = name.rfind(' ');
  if (found == addresses_.end() && end != name.npos && (name[end + 1] == '*' || name[end + 1] == '+')) {
    name.resize(end);
    found = addresses_.find({kind, name});
  }
  return found == addresses_.end() ? "" : found->second;
}

FindPage SiteAddresses::from(const std::string& root) const {
  return [this, root](Names kind, const std::string& name) {
    const std::string address = find(kind, name);
    return address.empty() ? "" : root + address;
  };
}

std::string site_root(const std::string& path) { return path.find('/') == path.npos ? "" : "../"; }

SiteFile make_site_page(const std::string& path, const Document& document, const SiteAddresses& addresses) {
  const std::string root = site_root(path);
  return {path, to_html(make_page(document, addresses.from(root)), {root})};
}

std::vector<SiteFile> make_shared_files(std::span<const SiteEntry> entries, const SiteAddresses& addresses) {
  const std::string_view vega = find_part("<script>// Vega", "</script>");
  const std::string_view script = find_part("<script>\"use strict\";", "</script>");
  Json names = Json::array();
  for (const SiteEntry& entry : entries) {
    names.push_back({{"name", entry.name},
                     {"kind", entry.about},
                     {"address", addresses.find(entry.kind, entry.name)},
                     {"aliases", entry.aliases},
                     {"text", entry.text}});
  }
  return {
      make_licenses_page(),
      {"files/site.css", fmt::format("{}{}", find_part("<style>\n", "</style>"), kSiteStyle)},
      {"files/vega.js", fmt::format("// licenses.html has the licenses of Vega and D3.\n{}\n",
                                    vega.substr(vega.find("const vega")))},
      {"files/plots.js", fmt::format("\"use strict\";\n{{\nconst node = document.createElement(\"script\");\n"
                                     "node.type = \"application/json\";\nnode.id = \"specifications\";\n"
                                     "node.textContent = JSON.stringify({});\ndocument.body.append(node);\n}}\n{}",
                                     plot_specifications(), script)},
      {"files/site.js", std::string(kSiteScript)},
      {"files/names.js", fmt::format("const posbench_names = {};\n", to_script_json(names))}};
}

}  // namespace posbench
