// `posbench sample`: examples of a task, to read.
#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/file_error.h"
#include "harness/commands/commands.h"
#include "harness/commands/describe.h"
#include "harness/commands/help.h"

namespace posbench {

void add_sample(CLI::App& app, Invocation&) {
  struct Request : SampleRequest {
    std::string layout_name = "teacher_forced";
    bool json = false;
  };
  const auto request = std::make_shared<Request>();
  CLI::App* sample = app.add_subcommand("sample", "Print examples of a task, in words and in ids");
  sample->add_option("task", request->task, "a task, with options if wanted")->required();
  sample->add_option("-n,--count", request->count, "how many")->check(CLI::Range(1, 1000000));
  sample->add_option("--stream", request->stream,
                     "which samples: train, validation, or the test samples of a split, by its name");
  sample->add_option("--split", request->stream, "the same as --stream");
  sample->add_option("--length", request->length, "the length of all samples")
      ->default_str("as the task draws it")
      ->check(CLI::Range(1, 100000));
  sample->add_option("-s,--seed", request->seed, "of the experiment that uses these samples");
  add_choice(*sample, "--layout", request->layout_name, {"teacher_forced", "slots"}, "the answers as inputs of a causal model, or empty slots");
  sample->add_flag("--json", request->json, "as JSON");
  sample->footer(
      "Examples:\n  posbench sample flip_flop -n 3 --stream ood_sparse\n  posbench sample flip_flop --stream train\n"
      "  posbench sample reverse_string --layout slots --json");
  sample->callback([request] {
    request->layout = request->layout_name == "slots" ? Layout::slots : Layout::teacher_forced;
    write_samples(*request, request->json, [](const std::string& text) {
      if (std::fputs(text.c_str(), stdout) < 0) throw FileError("cannot write to standard output", errno);
    });
  });
}

}  // namespace posbench
