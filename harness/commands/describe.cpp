#include "harness/commands/describe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/text.h"
#include "encodings/registry.h"
#include "harness/commands/terminal.h"
#include "harness/runs/names.h"
#include "harness/training/samples.h"
#include "harness/training/task_setup.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

Json options_json(const std::vector<OptionInfo>& options) {
  Json list = Json::array();
  for (const OptionInfo& o : options) {
    list.push_back(
        {{"name", o.name}, {"type", o.type}, {"default", o.value}, {"expected", o.expected}, {"help", o.help}});
  }
  return list;
}

std::string options_text(const std::vector<OptionInfo>& options) {
  if (options.empty()) return "options: none\n";
  std::string text = "options:\n";
  for (const OptionInfo& o : options) {
    text += fmt::format("  {:<16} {:<12} {}; {}\n", o.name, o.value.empty() ? "-" : o.value, o.help, o.expected);
  }
  return text;
}

std::vector<OptionInfo> settings() {
  std::vector<OptionInfo> infos;
  const auto add = [&](const char* section, auto options) {
    OptionTable table;
    options.describe(table);
    for (const Option& o : table.all())
      infos.push_back({std::string(section) + "." + o.name, o.type, o.get(), o.expected, o.help});
  };
  add("model", ModelOptions{});
  add("training", TrainingOptions{});
  add("evaluation", EvaluationOptions{});
  add("extend", ExtendOptions{});
  return infos;
}

std::string field(const std::string& name, const std::string& value) {
  return value.empty() ? "" : fmt::format("{:<15} {}\n", name + ":", value);
}

/// "length=128 (4x)": the value, and what it is relative to what is trained.
std::string changes(const TaskInfo& info, const TaskInfo::Split& split) {
  std::vector<std::string> pieces;
  for (size_t n = 0; n < split.options.size(); ++n) {
    const auto& [option, value] = split.options[n];
    const auto raw =
        std::find_if(info.splits.begin(), info.splits.end(), [&](const auto& s) { return s.name == split.name; });
    const std::string& relative = raw->options[n].second;
    pieces.push_back(option + "=" + value + (relative == value ? "" : " (" + relative + ")"));
  }
  return pieces.empty() ? "-" : fmt::format("{}", fmt::join(pieces, ", "));
}

std::string show_encoding(const EncodingEntry& entry) {
  const EncodingInfo& info = entry.info;
  return fmt::format("{} (encoding, {})\n\n", info.name, text(info.family)) + field("equation", info.equation) +
         field("source", info.source) + field("notes", info.notes) +
         field("models", info.causal_only ? "causal" : "causal, bidirectional") +
         field("touches", touches_text(info.touches)) + field("learned", info.learned ? "yes" : "no") +
         field("relative", text(info.relative)) + field("content", info.content_dependent) +
         field("extrapolates", text(info.extrapolates)) + field("distinct", text(info.distinct)) +
         field("distance decay", text(info.distance_decay)) + "\n" + options_text(entry.options);
}

std::string show_task(const std::string& spec, const TaskEntry& entry) {
  const TaskInfo& info = entry.info;
  const TaskSetup setup = make_task_setup(ExperimentOptions{}, spec);
  const TaskBaseline baseline = measure_baselines(setup);
  std::string text = fmt::format("{} (task, {}, version {})\n\n", info.name, info.family, info.version) +
                     field("definition", info.definition) + field("what it takes", info.takes) +
                     field("source", info.source) + field("published as", info.published_name) +
                     field("published use", info.published) +
                     field("models", info.causal_only ? "causal" : "causal, bidirectional (answer slots)") +
                     field("length unit", info.length_unit) + field("distance unit", info.distance_unit) +
                     field("vocabulary", fmt::format("{}", setup.shape.vocabulary)) +
                     field("longest", fmt::format("about {} tokens as trained, {} in any split",
                                                  setup.shape.trained_length, setup.shape.longest));
  text += "\n" + options_text(entry.options) + "\nsplits:\n";
  for (const TaskInfo::Split& split : setup.splits) {
    text += fmt::format("  {:<20} {:<36} {}\n", split.name, changes(info, split), split.why);
  }
  for (const std::string& split : setup.left_out) text += "  left out: " + split + "\n";
  text += "\naccuracy by token without reading the question (measured on 2000 samples each):\n";
  for (const SplitBaseline& split : baseline.splits) {
    text += fmt::format("  {:<20} chance {:.3f}", split.name, split.chance);
    for (const auto& [name, accuracy] : split.trivial) text += fmt::format(", {} {:.3f}", name, accuracy);
    if (split.entropy) text += fmt::format("; entropy {:.4f} nats, the least loss", *split.entropy);
    text += "\n";
  }
  return text;
}

bool of_training(const std::string& stream) { return stream == "train" || stream == "validation"; }

/// The task as the stream has it.
std::unique_ptr<Task> task_of_stream(const SampleRequest& request) {
  const Spec spec = read_task(request.task).task;
  const TaskInfo& info = tasks().find(spec.name).info;
  if (info.causal_only && request.layout == Layout::slots) {
    throw std::invalid_argument(
        fmt::format("task '{}' asks inside its sequences and has no answer slots", spec.name));
  }
  std::vector<std::string> names;
  for (const TaskInfo::Split& split : info.splits) {
    if (split.name == request.stream || of_training(request.stream)) return make_task(spec, split, request.layout);
    names.push_back(split.name);
  }
  throw std::invalid_argument(
      fmt::format("task '{}' has no stream or split '{}'{} (train, validation, and its splits: {})", spec.name,
                  request.stream, did_you_mean(request.stream, names), fmt::join(names, ", ")));
}

/// What a run does with a stream.
std::string use_of(const std::string& stream) {
  if (stream == "train") return "what a run trains on, in this order, unless its settings change the lengths";
  if (stream == "validation") return "what a run validates on while it trains";
  return fmt::format("what a run tests on, split {}", stream);
}

std::string sample_text(const Task& task, const SampleStream::Sample& sample) {
  const auto& [example, length] = sample;
  const auto is_scored = [&scored = example.scored](size_t t) {
    return std::find(scored.begin(), scored.end(), static_cast<int>(t)) != scored.end();
  };
  std::string words, ids, answers, wanted;
  for (size_t t = 0; t < example.tokens.size(); ++t) {
    const std::string mark = is_scored(t) ? "*" : "";
    words += fmt::format(" {}{}", task.word(example.tokens[t]), mark);
    ids += fmt::format(" {}{}", example.tokens[t], mark);
    if (!is_scored(t)) continue;
    answers += fmt::format(" {}", task.word(example.targets[t]));
    wanted += fmt::format(" {}", example.targets[t]);
  }
  const std::string text = fmt::format(
      "length {}, {} tokens; * marks what is scored\n  words  {}\n  ids    {}\n  answer {}   (ids{})\n", length,
      example.tokens.size(), words, ids, answers, wanted);
  if (example.distances.empty()) return text;
  return text + fmt::format("  distance {}\n", fmt::join(example.distances, " "));
}

Json sample_json(const Task& task, const SampleStream::Sample& sample) {
  const auto& [e, length] = sample;
  Json words = Json::array();
  for (const int token : e.tokens) words.push_back(task.word(token));
  return {{"length", length},       {"tokens", e.tokens},        {"words", words},
          {"targets", e.targets},   {"scored", e.scored},        {"distances", e.distances},
          {"segments", e.segments}, {"candidates", e.candidates}};
}

}  // namespace

std::string touches_text(const std::string& letters) {
  static const std::map<char, const char*> meanings{
      {'E', "input embeddings"},
      {'R', "rotates or scales queries and keys"},
      {'B', "an additive bias of the score"},
      {'Q', "a term of the score that depends on the query or key vector"},
      {'L', "scores as input, possibly across heads"},
      {'V', "values"},
      {'P', "position indices"}};
  std::vector<std::string> parts;
  for (const char letter : letters) {
    const auto found = meanings.find(letter);
    if (found != meanings.end()) parts.push_back(fmt::format("{} ({})", letter, found->second));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string list_text(const std::string& what, int width) {
  const auto line = [&](const std::string& left, const std::string& right) {
    constexpr int kLeast = 30, kIndent = 4;  // columns beside the left side, or under it
    if (width == 0) return left + right + "\n";
    if (static_cast<int>(left.size()) + kLeast <= width) return left + wrapped(right, left.size(), width) + "\n";
    return left.substr(0, left.find_last_not_of(' ') + 1) + "\n" + std::string(kIndent, ' ') +
           wrapped(right, kIndent, width) + "\n";
  };
  std::string text;
  if (what == "tasks") {
    for (const std::string& name : tasks().names()) {
      const TaskInfo& info = tasks().find(name).info;
      text += line(fmt::format("{:<28} {:<26} ", name, info.family), info.definition);
    }
  } else if (what == "encodings") {
    for (const std::string& name : encodings().names()) {
      const EncodingInfo& info = encodings().find(name).info;
      text += line(fmt::format("{:<18} {:<18} {:<21} ", name, posbench::text(info.family),
                               info.causal_only ? "causal" : "causal, bidirectional"),
                   info.source);
    }
  } else if (what == "profiles") {
    for (const auto& [name, json] : profiles()) {
      text += line(fmt::format("{:<12} ", name), Json::parse(json).value("description", ""));
    }
  } else {
    for (const OptionInfo& o : settings()) {
      text += line(fmt::format("{:<32} {:<14} ", o.name, o.value), fmt::format("{}; {}", o.help, o.expected));
    }
  }
  return text;
}

Json list_json(const std::string& what) {
  Json list = Json::array();
  if (what == "tasks") {
    for (const std::string& name : tasks().names()) {
      const auto& [info, options, canonical, make] = tasks().find(name);
      Json splits = Json::array();
      for (const TaskInfo::Split& split : info.splits) {
        Json changed = Json::object();
        for (const auto& [option, value] : split.options) changed[option] = value;
        splits.push_back({{"name", split.name}, {"options", changed}, {"why", split.why}});
      }
      list.push_back({{"id", name},
                      {"family", info.family},
                      {"version", info.version},
                      {"definition", info.definition},
                      {"takes", info.takes},
                      {"source", info.source},
                      {"published_name", info.published_name},
                      {"published", info.published},
                      {"causal_only", info.causal_only},
                      {"length_unit", info.length_unit},
                      {"distance_unit", info.distance_unit},
                      {"options", options_json(options)},
                      {"splits", splits}});
    }
  } else if (what == "encodings") {
    for (const std::string& name : encodings().names()) {
      const EncodingEntry& entry = encodings().find(name);
      const EncodingInfo& info = entry.info;
      list.push_back({{"id", name},
                      {"family", text(info.family)},
                      {"equation", info.equation},
                      {"source", info.source},
                      {"notes", info.notes},
                      {"causal_only", info.causal_only},
                      {"touches", info.touches},
                      {"learned", info.learned},
                      {"extrapolates", text(info.extrapolates)},
                      {"relative", text(info.relative)},
                      {"content_dependent", info.content_dependent},
                      {"distinct", text(info.distinct)},
                      {"distance_decay", text(info.distance_decay)},
                      {"variants", info.variants},
                      {"options", options_json(entry.options)}});
    }
  } else if (what == "profiles") {
    for (const auto& [name, json] : profiles()) {
      Json profile{{"id", name}};
      profile.update(Json::parse(json));
      list.push_back(profile);
    }
  } else {
    list = options_json(settings());
  }
  return {{what, list}};
}

std::string show_text(const std::string& text) {
  const Spec spec = Spec::parse(text);
  if (encodings().contains(encoding_name(spec.name)))
    return show_encoding(encodings().find(encoding_name(spec.name)));
  if (tasks().contains(task_name(spec.name)))
    return show_task(read_task(text).task.text(), tasks().find(task_name(spec.name)));
  if (profiles().count(text) > 0) return profiles().at(text);
  std::vector<std::string> names = encodings().names();
  const std::vector<std::string> more = tasks().names();
  names.insert(names.end(), more.begin(), more.end());
  for (const auto& [name, json] : profiles()) names.push_back(name);
  throw std::invalid_argument(
      fmt::format("no encoding, task or profile is called '{}'{} ('posbench list encodings', 'list tasks' and "
                  "'list profiles' show all)",
                  spec.name, did_you_mean(spec.name, names)));
}

void write_samples(const SampleRequest& request, bool json, const std::function<void(const std::string&)>& write) {
  const std::unique_ptr<Task> task = task_of_stream(request);
  const std::string purpose = of_training(request.stream) ? request.stream : "test:" + request.stream;
  const SampleStream stream{*task, purpose, request.seed, request.length};
  const std::string split = of_training(request.stream) ? "in_distribution" : request.stream;
  if (json) {
    write(fmt::format("{{\n\"task\": {},\n\"stream\": {},\n\"split\": {},\n\"seed\": {},\n\"samples\": [\n",
                      compact(request.task), compact(purpose), compact(split), request.seed));
  } else {
    write(fmt::format("stream {} of {}, seed {}: {}\n", purpose, request.task, request.seed,
                      use_of(request.stream)));
  }
  for (int n = 0; n < request.count; ++n) {
    const SampleStream::Sample sample = stream(static_cast<std::uint64_t>(n));
    if (json) {
      write(compact(sample_json(*task, sample)) + (n + 1 < request.count ? ",\n" : "\n]\n}\n"));
    } else {
      write(sample_text(*task, sample));
    }
  }
}

}  // namespace posbench
