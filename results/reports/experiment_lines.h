// Reads the experiments of a report on all cores.
#pragma once
#include <istream>
#include <streambuf>
#include <string>
#include <vector>

#include "results/json/read_bytes.h"
#include "results/types/experiment_result.h"

namespace posbench {

/// Passes the text of a report on without its experiments. It finds them by their lines: one for each, or several
/// that are indented, as posbench writes them. In other texts it finds none, or text that finish() refuses.
class ExperimentLines final : public std::streambuf {
 public:
  /// The source must outlive this.
  explicit ExperimentLines(ByteSource& source) : source_(&source) {}

  /// Returns the experiments of all text that was passed on. Throws InputError, without a location, if one is
  /// invalid.
  std::vector<ExperimentResult> finish();

 private:
  enum class Place { before, inside, after };  // the list

  int_type underflow() override;
  void pass_line();
  void pass_item_line();
  void read_batch();

  std::istream source_;
  std::string line_, passed_;  // the present line, and what remains of it for the caller
  std::string item_;           // the lines of an experiment until now
  size_t indent_ = 0;          // of its first line
  Place place_ = Place::before;
  std::vector<std::string> items_;  // complete and not yet read
  std::vector<ExperimentResult> experiments_;
};

}  // namespace posbench
