// Copies one of several nearly equal items that have the same key.
//
//   k3 : w1 w6 w2 . k0 : w4 w4 w7 . k3 : w1 w5 w2 . k1 : w0 w6 w3 . ? k3 2 =   ->   w1 w5 w2
//
// Words are uniform. Each item of the queried key is a common text with one word replaced, so that two of them
// differ in one or two words, or in a few samples in none. The other items have other keys. The items of the
// queried key are anywhere, and the number of the one that is asked for is uniform. The distance is the number of
// tokens back to the word.
#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::mrcr {
namespace {

const TaskInfo kInfo{
    .name = "mrcr",
    .family = "retrieval",
    .aspects = {Aspect::recall, Aspect::counting},
    .definition =
        "The model reads items of several words, each after a key, then a key and a number, and copies the item of this "
        "number among those of the key.",
    .requirement =
        "Attention has to find the items of a key by content, count them, and copy one, although the words of the "
        "others are nearly the same.",
    .source = "after Vodrahalli et al. 2024, arXiv:2409.12640, section 3",
    .published_name = "multi-round co-reference resolution (MRCR)",
    .published =
        "The paper prompts large models with a conversation of up to 1M tokens, in which two requests for writing have "
        "the same topic and format or share one, and asks for the text that followed one of them; openai/mrcr has up "
        "to eight equal requests and asks for the i-th text. Here a request is a key, a text is a few words, and the "
        "texts of a key are made nearly equal. The sizes and the splits are ours.",
    .length_unit = "items",
    .distance_unit = "tokens",
    .splits = {{"in_distribution", {}, "the trained items"},
               {"ood_length", {{"length", "2x"}}, "more items of other keys"},
               {"ood_copies", {{"copies", "4"}}, "more items of the queried key"},
               {"ood_words", {{"words", "5"}}, "longer items"}},
    .far = TaskInfo::Far{},
    .shortcuts = {.token = 0.37, .neighbor = 0.18, .count = 0.15},
};

struct Options {
  Integers length{4, 8};
  Integers copies{2};
  Integers words{3};
  int which = 2, keys = 8, symbols = 16;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, 10000, "items");
    o.integers("copies", copies, 1, 1000, "items of the queried key");
    o.integers("words", words, 1, 1000, "words of an item");
    o.integer("which", which, 1, 1000, "largest number that is asked for, from 1 for the first item of the key");
    o.integer("keys", keys, 2, 10000, "keys");
    o.integer("symbols", symbols, 2, 10000, "different words");
  }
};

class Mrcr final : public BasicTask<Options> {
 public:
  Mrcr(const Options& options, Layout layout) : BasicTask(options, layout) {
    if (options.copies.max() > options.length.min()) {
      throw InputError(fmt::format("task 'mrcr': copies {} is more than length {}; raise length",
                                   options.copies.max(), options.length.min()));
    }
    if (options.which > options.copies.min()) {
      throw InputError(fmt::format("task 'mrcr': which {} is more than copies {}; lower it or raise copies",
                                   options.which, options.copies.min()));
    }
  }

  int vocabulary() const override { return word() + options_.symbols; }
  double chance_level() const override { return 1.0 / options_.symbols; }
  std::string token_text(int token) const override {
    if (token < kNumber) return std::string(1, ":.?="[token]);
    if (token < key()) return std::to_string(token - kNumber + 1);
    return token < word() ? fmt::format("k{}", token - key()) : fmt::format("w{}", token - word());
  }

  Example sample(int length, Rng& rng) const override {
    const int copies = options_.copies.draw(rng), words = options_.words.draw(rng);
    const int queried = key() + uniform(rng, 0, options_.keys - 1), which = uniform(rng, 1, options_.which);
    const std::vector<int> text = draw_words(words, rng), places = sample_distinct(rng, length, copies);

    std::vector<int> question, segments, answer, evidence;
    for (int n = 0, copy = 0; n < length; ++n) {
      const bool has_key = copy < copies && places[copy] == n;
      std::vector<int> item = has_key ? with_a_change(text, rng) : draw_words(words, rng);
      question.insert(question.end(), {has_key ? queried : other_key(queried, rng), kColon});
      if (has_key && ++copy == which) {
        for (int t = 0; t < words; ++t) evidence.push_back(static_cast<int>(question.size()) + t);
        answer = item;
      }
      question.insert(question.end(), item.begin(), item.end());
      question.push_back(kStop);
      segments.resize(question.size(), n);
    }
    question.insert(question.end(), {kQuestion, queried, kNumber + which - 1});
    Example example = ask(layout_, std::move(question), kEquals, answer);
    set_segments(example, std::move(segments), length);
    set_evidence(example, std::move(evidence));
    return example;
  }

 private:
  static constexpr int kColon = 0, kStop = 1, kQuestion = 2, kEquals = 3, kNumber = 4;
  int key() const { return kNumber + options_.which; }
  int word() const { return key() + options_.keys; }

  std::vector<int> draw_words(int count, Rng& rng) const {
    return uniform_tokens(rng, count, word(), word() + options_.symbols - 1);
  }
  /// Replaces a uniform word by another.
  std::vector<int> with_a_change(std::vector<int> text, Rng& rng) const {
    int& token = text[uniform(rng, 0, static_cast<int>(text.size()) - 1)];
    token = word() + (token - word() + uniform(rng, 1, options_.symbols - 1)) % options_.symbols;
    return text;
  }
  int other_key(int queried, Rng& rng) const {
    return key() + (queried - key() + uniform(rng, 1, options_.keys - 1)) % options_.keys;
  }
};

const RegisterTask<Mrcr> registered{kInfo};

}  // namespace
}  // namespace posbench::mrcr
