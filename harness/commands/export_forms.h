// Declares the forms of `posbench export`.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "harness/commands/vectors.h"
#include "harness/config/config.h"

namespace posbench {

enum class SampleFormat { jsonl, safetensors };

struct ExportRequest {
  std::string subject;  // a task, an encoding, or a run directory, a saved model or with `initial` a configuration
  std::uint64_t seed = 0;
  std::optional<std::filesystem::path> output;

  // These options belong to samples and to logits.
  std::optional<std::string> split;  // empty: train, of logits in_distribution
  std::uint64_t first = 0;
  std::optional<std::uint64_t> count;  // empty: 1000, of logits 512

  // These options belong to samples.
  ConfigArguments config;                         // only its layout, begin token and splits matter
  std::optional<SampleFormat> format;             // empty: that of the file's extension, or jsonl
  std::optional<std::filesystem::path> manifest;  // empty: next to the output

  // These options belong to logits.
  std::string task, encoding;
  bool initial = false;                               // the model before training instead of the saved one
  bool maps = false;                                  // write scores and attention too
  std::optional<std::filesystem::path> model_output;  // .safetensors

  VectorsRequest vectors;
};

// Each throws InputError before anything is written. The functions that return an exit code can be interrupted.

/// Writes reference vectors of an encoding and their manifest.
void export_vectors(ExportRequest);
/// Writes the logits of a model, their manifest and the model.
int export_logits(const ExportRequest&);

}  // namespace posbench
