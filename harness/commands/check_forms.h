// Declares the forms of `posbench check`.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/commands/vectors.h"
#include "harness/console/output.h"

namespace posbench {

struct CheckRequest {
  std::vector<std::string>
      subjects;  // tasks and encodings: names, globs and specs; or one report; empty: all names
  int jobs = 0;  // 0: all cores
  std::vector<std::string> command;  // the whole command line

  // These options belong to the form with names.
  bool variants = false;  // variants of the encodings, options of blocks, pairs in compositions
  Output output;

  // These options belong to the forms with a report.
  int sample = 5;
  std::optional<std::uint64_t> seed;            // of the random choice; with --against of the inputs
  std::optional<std::filesystem::path> source;  // the Python file of a module in PyTorch

  // These options belong to the form with one encoding and a file.
  std::optional<std::filesystem::path> against;
  VectorsRequest vectors;
  double tolerance = 1e-5;
};

// Each returns the exit code: 1 if a check fails or a value differs.

/// Writes the certificates of encodings and tasks one by one, or as one document in another format.
int check_names(const CheckRequest&);
/// Runs some experiments of a report again and compares every count and accuracy.
int check_report(const CheckRequest&);
/// Trains some models of a report in PyTorch again and compares every accuracy: becomes a process of Python.
int check_source(const CheckRequest&);
/// Compares arrays of a file with the reference vectors of an encoding.
int check_vectors(CheckRequest);

}  // namespace posbench
