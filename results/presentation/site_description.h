// Holds the contents of a web site of all encodings, tasks and claims.
#pragma once
#include <string>
#include <vector>

#include "results/presentation/board_text.h"
#include "results/presentation/encoding_card.h"
#include "results/statistics/aspect_scores.h"
#include "results/statistics/board.h"
#include "results/statistics/claims.h"

namespace posbench {

/// A line of a description: "also called", "nope". An empty text is left out.
struct SiteFact {
  std::string name, text;
};

struct SiteEncoding {
  EncodingDescription about;
  std::vector<std::string> aliases;
  std::vector<SiteFact> facts;  // in addition to the description
  Table options;
};

struct SiteTask {
  std::string name, family, aspects;
  std::vector<std::string> aliases;  // its published names
  std::vector<SiteFact> facts;
  Table options, splits;
};

struct SiteClaim {
  Claim claim;
  ClaimResult result;
  Claim full_claim;  // at the published size
  ClaimResult full_result;
  bool has_one_size = false;                  // both are equal
  std::vector<std::string> encodings, tasks;  // the registered names of those in its rules
};

struct SiteContents {
  std::string version;  // of the program
  std::vector<SiteEncoding> encodings;
  std::vector<SiteTask> tasks;
  std::vector<SiteClaim> claims;
  AllEvidence evidence;  // for the claims at both sizes
  BoardReport board;
  std::vector<AspectTasks> aspects;
  BoardTexts texts;
  NamedReport reference;  // must outlive the contents
};

/// A file of the site and its path in the folder of the site.
struct SiteFile {
  std::string path, text;
};

}  // namespace posbench
