// Finds the value of a key in a haystack.
//
//   w3 w7 k4 : 2 9 . w1 k2 : 5 0 . w3 w3   ? k2 =   ->   5 0
//
// A needle is a key, a colon, the digits of a value and a stop. Needles are at uniform places among the words of
// the haystack. The question names keys; the answer has all values of each, in the order of the keys and of the
// needles. The distance is the depth of a needle, counted from the end: in which tenth of the tokens before the
// question it begins, 0 for the last.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::needle {
namespace {

const TaskInfo kInfo{
    .name = "needle",
    .family = "retrieval",
    .aspects = {Aspect::recall},
    .definition =
        "The model reads needles, which are keys with values of several digits, among the words of a haystack, "
        "then keys, and answers their values.",
    .requirement = "Attention has to find a key by content at any depth, and read the tokens after it one by one.",
    .source =
        "Hsieh et al. 2024, arXiv:2404.06654; code NVIDIA/RULER, scripts/data/synthetic/niah.py; passkey: "
        "Mohtashami, Jaggi 2023, arXiv:2305.16300",
    .published_name =
        "needle in a haystack (NIAH): single, multi-key, multi-value, multi-query; passkey retrieval",
    .published =
        "RULER prompts large models with text of 4000 to 128 000 tokens. Its forms are "
        "needle:keys=1 (single), needle (multi-key, 4 keys), needle:keys=32,names=32,length=0 (multi-key, with "
        "needles as the haystack), needle:keys=1,values=4 (multi-value) and needle:queries=4 (multi-query). "
        "needle:keys=1,names=1,digits=5,haystack=noise is the passkey, whose key is always the same. "
        "RULER has values of 7 digits without leading zeros, or UUIDs as values, and any order of the answers counts. "
        "Here values have 2 digits, and the order is that of the needles. The splits are ours.",
    .length_unit = "haystack words",
    .distance_unit = "tenths of the depth",
    .splits = {{"in_distribution", {}, "the trained lengths and keys"},
               {"ood_length2", {{"length", "1x..2x"}}, "up to twice the words between needles"},
               {"ood_length4", {{"length", "2x..4x"}}, "up to four times the words between needles"},
               {"ood_keys", {{"keys", "2x"}}, "twice the needles, in the trained haystack"}},
    .far = TaskInfo::Far{},
};

enum class Haystack { words, noise };
struct Options {
  Integers length{8, 24};
  int keys = 4, values = 1, queries = 1, digits = 2, names = 16, words = 16;
  Haystack haystack = Haystack::words;
  void describe(OptionTable& o) {
    o.integers("length", length, 0, 100000, "words of the haystack");
    o.integer("keys", keys, 1, 10000, "different keys that needles have");
    o.integer("values", values, 1, 1000, "needles of each key");
    o.integer("queries", queries, 1, 10000, "keys that are asked for");
    o.integer("digits", digits, 1, 100, "digits of a value");
    o.integer("names", names, 1, 10000, "keys to choose from");
    o.integer("words", words, 1, 10000, "different words");
    o.choice("haystack", haystack, {"words", "noise"}, "uniform words, or all words in a fixed order, repeated");
  }
};

class Needle final : public BasicTask<Options> {
 public:
  Needle(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.keys > options.names) {
      throw InputError(fmt::format("task 'needle': keys {} need as many names, not {}; raise names or lower keys",
                                   options.keys, options.names));
    }
    if (options.queries > options.keys) {
      throw InputError(
          fmt::format("task 'needle': queries {} need as many keys, not {}; raise keys or lower queries",
                      options.queries, options.keys));
    }
  }

  int vocabulary() const override { return word(options_.words); }
  int answers() const override { return kDigits; }
  double chance_level() const override { return 1.0 / kDigits; }
  std::string token_text(int token) const override {
    if (token < kDigits) return std::to_string(token);
    if (token < kName) return std::string(1, ":.?="[token - kDigits]);
    return token < word(0) ? fmt::format("k{}", token - kName) : fmt::format("w{}", token - word(0));
  }

  Example sample(int length, Rng& rng) const override {
    const std::vector<int> keys = distinct_ids(rng, kName, options_.names, options_.keys);
    std::vector<int> needles;  // the index of the key of each needle, in their order
    for (int key = 0; key < options_.keys; ++key) needles.insert(needles.end(), options_.values, key);
    shuffle<int>(needles, rng);
    std::vector<int> places;  // the number of words before each needle
    for (size_t n = 0; n < needles.size(); ++n) places.push_back(uniform(rng, 0, length));
    std::ranges::sort(places);

    std::vector<int> question, segments;
    std::vector<std::vector<int>> value_positions(options_.keys);  // the first digits of the values of each key
    int words = 0;
    for (size_t n = 0; n < needles.size(); ++n) {
      for (; words < places[n]; ++words) question.push_back(draw_word(words, rng));
      segments.resize(question.size(), static_cast<int>(2 * n));
      question.insert(question.end(), {keys[needles[n]], kColon});
      value_positions[needles[n]].push_back(static_cast<int>(question.size()));
      for (int digit = 0; digit < options_.digits; ++digit) question.push_back(uniform(rng, 0, kDigits - 1));
      question.push_back(kStop);
      segments.resize(question.size(), static_cast<int>(2 * n + 1));
    }
    for (; words < length; ++words) question.push_back(draw_word(words, rng));
    segments.resize(question.size(), static_cast<int>(2 * needles.size()));
    return ask_for_values(std::move(question), std::move(segments), keys, value_positions, rng);
  }

 private:
  static constexpr int kDigits = 10, kColon = 10, kStop = 11, kQuery = 12, kEquals = 13, kName = 14;

  int word(int n) const { return kName + options_.names + n; }
  int draw_word(int n, Rng& rng) const {
    return word(options_.haystack == Haystack::noise ? n % options_.words : uniform(rng, 0, options_.words - 1));
  }

  Example ask_for_values(std::vector<int> question, std::vector<int> segments, const std::vector<int>& keys,
                         const std::vector<std::vector<int>>& value_positions, Rng& rng) const {
    const int haystack_size = static_cast<int>(question.size());
    std::vector<int> answer, evidence, distances;
    question.push_back(kQuery);
    for (const int key : distinct_ids(rng, 0, options_.keys, options_.queries)) {
      question.push_back(keys[key]);
      for (const int position : value_positions[key]) {
        const int begin = position - 2;
        for (int digit = 0; digit < options_.digits; ++digit) {
          answer.push_back(question[position + digit]);
          evidence.push_back(position + digit);
          distances.push_back(10 * (haystack_size - 1 - begin) / haystack_size);
        }
      }
    }
    Example example = ask(layout_, std::move(question), kEquals, answer);
    set_segments(example, std::move(segments), options_.keys * options_.values * 2 + 1);
    example.evidence = std::move(evidence);
    example.distances = std::move(distances);
    return example;
  }
};

const RegisterTask<Needle> registered{kInfo};

}  // namespace
}  // namespace posbench::needle
