// `posbench check`: certificates of names, repetitions of a report, and comparisons with reference vectors.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "harness/commands/check_forms.h"
#include "harness/commands/commands.h"
#include "harness/commands/forms.h"

namespace posbench {
namespace {

/// Returns the forms of names, of a report, of an encoding with --against, and of a report with --source.
const std::vector<Form>& check_forms() {
  static const std::vector<Form> forms = [] {
    std::vector<Form> forms{
        {"posbench check NAME", {"--variants", "--json", "--jobs"}},
        {"posbench check REPORT", {"--sample", "--seed", "--jobs"}},
        {"posbench check SPEC --against FILE", {"--against", "--tolerance", "--seed", "--json"}},
        {"posbench check REPORT --source FILE", {"--source", "--sample", "--seed", "--jobs"}}};
    forms[2].options.insert(forms[2].options.end(), vector_options().begin(), vector_options().end());
    return forms;
  }();
  return forms;
}

/// Throws InputError for options of another form.
int check(const CheckRequest& request, const Command& command) {
  bool has_path = false;
  for (const std::string& subject : request.subjects) has_path = has_path || subject_of(subject) == Subject::path;
  if (has_path && request.subjects.size() > 1)
    throw InputError(fmt::format("a report and other arguments are given; give one report, or names ({})",
                                 usages(check_forms())));
  if (request.against && (has_path || request.subjects.size() != 1))
    throw InputError(fmt::format("--against needs one encoding, as in '{}'", check_forms()[2].usage));
  if (request.source && !has_path)
    throw InputError(fmt::format("--source needs a report, as in '{}'", check_forms()[3].usage));
  const size_t form = request.against ? 2 : request.source ? 3 : has_path ? 1 : 0;
  check_options(command, check_forms(), check_forms()[form]);
  if (form == 3) return check_source(request);
  return form == 2 ? check_vectors(request) : form == 1 ? check_report(request) : check_names(request);
}

}  // namespace

void add_check(CommandLine& line) {
  const auto request = std::make_shared<CheckRequest>();
  Command& command = line.add(kExplore, "check",
                              "Check encodings and tasks, the counts of a report, or vectors of another program");
  command.name(
      "names", request->subjects, ValueKind::subject,
      "encodings and tasks: names, specs and globs, without names all; or a report.json or run directory");
  command.flag(
      "--variants", request->variants,
      "check each encoding also with its registered options and with each option of the blocks, and sum, layers "
      "and heads over every pair of encodings");
  command
      .number("-j,--jobs", request->jobs, 1, 4096,
              "number of checks at once, one thread each, or of a report's experiments, which also use idle cores")
      .default_text("all cores");
  add_json(command, request->output, "output as JSON");
  command.number("--sample", request->sample, 1, 1'000'000, "number of experiments of a report to run again");
  command
      .file("--source", request->source,
            "Python file with the encoding or mixer of a report of posbench.torch, whose models are trained again")
      .default_text("none");
  command.seed("-s,--seed", request->seed, "seed of the choice of experiments, or of vectors")
      .default_text("random; of vectors 0");
  command
      .file("--against", request->against,
            ".json or .safetensors file whose arrays are compared with the vectors of the same name")
      .default_text("none");
  command.number("--tolerance", request->tolerance, 0.0, 1.0,
                 "largest difference of vectors, relative to values above 1");
  add_vector_options(command, request->vectors);
  command.explain(
      {{"posbench check", "all encodings and tasks"},
       {"posbench check cope:positions=16 rope flip_flop", "some of them"},
       {"posbench check 'dape*' randomized --variants", "with all variants"},
       {"posbench check results/data/reference/report.json --sample 3", "runs three experiments again"},
       {"posbench check rope:pairing=half_split --against rope.safetensors", "vectors of another program"}},
      {"The check of an encoding compares its gradients with finite differences, and its measured properties with "
       "the registered ones. The check of a task compares its answers with those of an oracle, an independent "
       "implementation of the task.",
       "The check of a report runs some experiments again. It compares status, steps, parameters, validation accuracies "
       "and the correct answers of every split: in total, by length, by distance and by position. It measures the "
       "baselines of their tasks again and computes the summary again. It also names experiments that the report omits "
       "although its config has them.",
       "With --source mine.py, Python trains the models, and an accuracy may differ by 0.05, since PyTorch rounds "
       "differently on another machine. The file is "
       "run as a module, so keep its own runs behind 'if __name__ == \"__main__\":'.",
       "With --against, all values are those of one attention layer in double precision, as 'posbench export' writes "
       "them (docs/golden.md).",
       "Exit codes: 0 all checks pass; 1 a check fails, a value differs, or experiments are missing; 2 the input cannot "
       "be read or run, or contradicts itself."});
  command.run([request, &line, &command] {
    request->command = line.arguments;
    return check(*request, command);
  });
}

}  // namespace posbench
