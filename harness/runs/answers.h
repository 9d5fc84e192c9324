// The answers of a model to samples: a file that any program can write.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "harness/runs/sample_set.h"

namespace posbench {

/// Answers to samples, a row for each. Its functions throw std::runtime_error if the file is invalid.
class Answers {
 public:
  virtual ~Answers() = default;

  std::vector<std::int64_t> index;                    // the sample of each row
  virtual bool has_logits() const = 0;                // else ids
  virtual std::int64_t columns(size_t row) const = 0;  // scored positions that the row has room for
  virtual std::int64_t id(size_t row, size_t column) const = 0;
  /// Logits or log-probabilities of the whole vocabulary; any number of them, to be checked.
  virtual void logits(size_t row, size_t column, std::vector<double>&) const = 0;
};

/// Reads an .npz, .safetensors or .jsonl file.
std::unique_ptr<Answers> read_answers(const std::filesystem::path&);

/// Accuracy of the answers, and their loss and margin if they are logits: every sample of the set must be there once, and nothing else.
SplitResult score(const Answers&, const SampleSet&, const std::string& file);

}  // namespace posbench
