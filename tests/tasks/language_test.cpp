// Tests the tasks of language modeling: a grammar of known entropy, and a text that is split once.

#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"
#include "tests/temporary.h"

using namespace posbench;

namespace {

/// Returns the texts of the tokens that the model reads.
std::vector<std::string> words(const Task& task, const Example& e) {
  std::vector<std::string> words;
  for (const int token : e.tokens) words.push_back(task.token_text(token));
  return words;
}

}  // namespace

TEST_CASE("the mean loss of the grammar's own probabilities is its stated entropy") {
  const auto [spec, nested, nouns, prepositions, verbs] = GENERATE(table<std::string, double, int, int, int>(
      {{"grammar", 0.5, 8, 4, 1},
       {"grammar:length=5..9,nested=0.8,nouns=3,prepositions=2,verbs=5", 0.8, 3, 2, 5}}));
  CAPTURE(spec);
  const std::unique_ptr<Task> task = make(spec);
  double sum = 0, squares = 0, scored = 0;
  constexpr int kSamples = 20000;
  for (int n = 0; n < kSamples; ++n) {
    Rng rng = make_rng(0, "entropy", static_cast<std::uint64_t>(n));
    const Example e = task->sample(task->lengths().draw(rng), rng);
    double loss = 0;
    for (const int t : e.scored) {
      const char read = task->token_text(e.tokens[t])[0], next = task->token_text(e.targets[t])[0];
      const bool after_noun = read == 'n' || read == 'N';
      const double p = after_noun                   ? next == 'p' ? nested / prepositions : (1 - nested) / verbs
                       : read == 'v' || read == 'V' ? 1
                                                    : 0.5 / nouns;
      loss -= std::log(p);
    }
    sum += loss;
    squares += loss * loss;
    scored += static_cast<double>(e.scored.size());
  }
  const double mean = sum / kSamples, error = std::sqrt((squares / kSamples - mean * mean) / kSamples);
  CHECK(std::abs(sum / scored - *task->entropy()) < 4 * error * kSamples / scored);
  CHECK(*make("grammar:scored=verbs,verbs=3")->entropy() == Approx(std::log(6)));
}

TEST_CASE("a verb agrees with the first noun of its sentence, at the reported distance") {
  const std::unique_ptr<Task> task = make("grammar:scored=verbs,nested=0.8");
  std::map<int, int> distances;
  for (int n = 0; n < 500; ++n) {
    Rng rng = make_rng(1, "agreement", static_cast<std::uint64_t>(n));
    const Example e = task->sample(48, rng);
    for (size_t i = 0; i < e.scored.size(); ++i) {
      const int subject = e.scored[i] + 1 - e.distances[i];
      CHECK((subject == 0 || task->token_text(e.tokens[subject - 1]) == "."));
      const bool plural = task->token_text(e.tokens[subject])[0] == 'N';
      CHECK(task->token_text(e.targets[e.scored[i]]) == (plural ? "V0" : "v0"));
      ++distances[e.distances[i]];
    }
  }
  CHECK(distances.count(1) == 1);
  CHECK(distances.rbegin()->first > 20);
}

TEST_CASE("the parts of a text for training, validation and tests do not overlap, and are read unchanged") {
  std::string text;
  for (int n = 0; n < 1000; ++n) text += static_cast<char>(n < 800 ? 'a' + n % 3 : n < 900 ? 'x' : '0' + n % 10);
  const TemporaryDirectory directory;
  const std::unique_ptr<Task> task = make("text:length=20,file=" + directory.write("text", text).string());
  CHECK(task->vocabulary() == 14);
  std::map<Purpose, std::set<std::string>> seen;
  for (const Purpose part : {Purpose::train, Purpose::validation, Purpose::test}) {
    for (int n = 0; n < 300; ++n) {
      Rng rng = make_rng(0, "text", static_cast<std::uint64_t>(n));
      const Example e = task->sample_of(part, 20, rng);
      CHECK(e.tokens.size() == 20);
      CHECK(e.scored.size() == 19);
      std::string window;
      for (const std::string& word : words(*task, e)) window += word;
      window += task->token_text(e.targets.back());
      CHECK(text.find(window) != text.npos);
      seen[part].insert(window.begin() == window.end() ? "" : std::string(1, window[0]));
    }
  }
  CHECK(seen[Purpose::train] == std::set<std::string>{"a", "b", "c"});
  CHECK(seen[Purpose::validation] == std::set<std::string>{"x"});
  CHECK(seen[Purpose::test].size() == 10);
}

TEST_CASE("a text that cannot be read, is too short or has another checksum is refused with a message") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("text", std::string(500, 'a') + "b").string();
  CHECK_THROWS_WITH(make("text:file=/no/such/file"),
                    "task 'text': file '/no/such/file' cannot be read; expected the path of a file of up to "
                    "1073741824 bytes");
  CHECK_THROWS_WITH(make("text:file=" + path), ContainsSubstring("has 501 bytes, but a length of 64 needs 650"));
  CHECK_THROWS_WITH(make("text:length=9,crc32=00000000,file=" + path),
                    ContainsSubstring("not 00000000; use the file with this checksum or change crc32"));
  CHECK_NOTHROW(make("text:length=9,crc32=1B0B5D4A,file=" + path));
  CHECK_NOTHROW(make("text:length=9,file=" + path));
}
