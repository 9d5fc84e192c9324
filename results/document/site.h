// Writes documents as the pages of a web site. The pages link to each other by the names of encodings, tasks and
// claims. They share one style and the scripts, which are files of the site, and open from a folder, without a
// server.
#pragma once
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "results/document/render.h"

namespace posbench {

/// A name that has a page. The search finds it by all these texts.
struct SiteEntry {
  Names kind = Names::none;
  std::string name;
  std::string about;                 // "encoding, rotary", as the search shows it
  std::vector<std::string> aliases;  // other names
  std::string text;
};

/// The addresses of the pages of names, relative to the folder of the site.
class SiteAddresses {
 public:
  explicit SiteAddresses(std::span<const SiteEntry>);

  /// Returns the address of a page; empty if there is none. Accepts names with a mark, as in "rope *" and
  /// "rope +2".
  std::string find(Names kind, std::string name) const;

  /// Returns a function that finds the pages from a page whose address of the site is `root`. The addresses must
  /// outlive it.
  FindPage from(const std::string& root) const;

 private:
  std::map<std::pair<Names, std::string>, std::string> addresses_;
};

/// A file of the site and its path in the folder of the site.
struct SiteFile {
  std::string path, text;
};

/// Returns the address of the site, given that of a page: "../", or empty.
std::string site_root(const std::string& path);

/// Returns the page of a document.
SiteFile make_site_page(const std::string& path, const Document&, const SiteAddresses&);

/// Returns the style, the scripts, the names that the search finds, and the licenses.
std::vector<SiteFile> make_shared_files(std::span<const SiteEntry>, const SiteAddresses&);

}  // namespace posbench
