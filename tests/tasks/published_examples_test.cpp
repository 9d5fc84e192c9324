// Examples and numbers that papers and their code publish for the tasks of Zoology, RULER, PosGen and others, those
// of the head comments, and forms that the oracles, which are for the defaults only, do not cover.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include "harness/verify/oracles.h"
#include "tasks/registry.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

/// A task whose tokens are read and written as `posbench sample` prints them, with spaces between.
class InWords {
 public:
  explicit InWords(const std::string& spec, Layout layout = Layout::teacher_forced) {
    const Spec parsed = Spec::parse(spec);
    name_ = parsed.name;
    task_ = tasks().find(name_).make(parsed, layout);
    for (int id = 0; id < task_->vocabulary(); ++id) ids_.emplace(task_->word(id), id);
  }
  const Task& task() const { return *task_; }

  Tokens ids(const std::string& text) const {
    std::istringstream words(text);
    Tokens tokens;
    for (std::string word; words >> word;) tokens.push_back(ids_.at(word));
    return tokens;
  }
  std::string text(const Tokens& tokens) const {
    std::string text;
    for (const int token : tokens) text += (text.empty() ? "" : " ") + task_->word(token);
    return text;
  }

  /// The oracle's answer to a question that ends at the first target position; there are `positions` of these.
  std::string answer(const std::string& question, int positions = 1) const {
    Example e{.tokens = ids(question)};
    for (int n = 0; n < positions; ++n) e.scored.push_back(static_cast<int>(e.tokens.size()) - 1 + n);
    return text(oracles().at(name_)(e));
  }
  /// The oracle's answers at these positions of a sequence with questions inside it.
  std::string answers(const std::string& sequence, Tokens scored) const {
    return text(oracles().at(name_)(Example{.tokens = ids(sequence), .scored = std::move(scored)}));
  }

  Example draw(int length, int index = 0) const {
    Rng rng = stream(0, name_, index);
    return task_->sample(length, rng);
  }
  std::string question(const Example& e) const {
    return text({e.tokens.begin(), e.tokens.begin() + e.scored.front()});
  }
  std::string answer(const Example& e) const {
    Tokens answers;
    for (const int t : e.scored) answers.push_back(e.targets[t]);
    return text(answers);
  }

 private:
  std::string name_;
  std::unique_ptr<Task> task_;
  std::map<std::string, int> ids_;
};

/// Characters with spaces between.
std::string spaced(const std::string& text) {
  std::string result;
  for (const char c : text) result += std::string(1, c) + " ";
  return result;
}

std::string reversed_words(const std::string& text) {
  std::istringstream words(text);
  std::string result;
  for (std::string word; words >> word;) result = word + (result.empty() ? "" : " ") + result;
  return result;
}

}  // namespace

TEST_CASE("indirect indexing: the paper's examples") {
  const InWords task("indirect_indexing");
  CHECK(task.answer(spaced("QEOHOUDKfeSrMVNlCzXu,z,-3,")) == "N");
  CHECK(task.answer(spaced("TzbkWoKDyscBepYvfwxEVQtgPa,c,-8,")) == "b");
  CHECK(task.answer(spaced("NZTUIGWkXFrhCJDzscat,N,+4,")) == "I");
  CHECK(task.answer(spaced("RBEvOPgtaGDnjhbJCLScruZpMNsyWfQxXFAzUT,x,+2,")) == "F");
  CHECK(task.answer(spaced("ABSCOPZG,Z,-3,")) == "C");
}

TEST_CASE("indirect indexing has strings of 20 to 40 different letters, and all shifts of -15 to 15") {
  const InWords task("indirect_indexing");
  CHECK(task.task().vocabulary() == 2 * 26 + 10 + 3);
  std::set<int> letters, shifts;
  for (int n = 0; n < 5000; ++n) {
    const int length = 20 + n % 21;
    const Example e = task.draw(length, n);
    const std::set<int> string(e.tokens.begin(), e.tokens.begin() + length);
    REQUIRE(static_cast<int>(string.size()) == length);
    letters.insert(string.begin(), string.end());
    shifts.insert(task.task().word(e.tokens[length + 3]) == "-" ? -e.distances[0] : e.distances[0]);
  }
  CHECK(letters.size() == 52);
  CHECK(shifts.size() == 31);
  CHECK(*shifts.begin() == -15);
}

TEST_CASE("index retrieval counts from either end, and answers the index of an item") {
  const InWords item("index_retrieval"), index("index_retrieval:query=index");
  CHECK(item.answer("A k T w start 2 =") == "k");
  CHECK(item.answer("A k T w end 2 =") == "T");
  CHECK(index.answer("A k T w end k =") == "3");
  CHECK(index.answer("A k T w start k =") == "2");
  for (int n = 0; n < 200; ++n) {
    const Example e = index.draw(4 + n % 17, n);
    CHECK(index.answer(index.question(e) + " =") == index.answer(e));
    CHECK(index.answer(e) == std::to_string(e.distances[0]));
  }
}

TEST_CASE("PosGen: the paper's figure 2, in all three forms") {
  for (const auto& [form, sequence] :
       std::map<std::string, std::string>{{"recurrent", "2 0 3 1 6 3 6 2 3 0 4 2"},
                                          {"cot", "2 0 3 1 6 5 0 6 6 0 0 1"},
                                          {"semirecurrent", "2 0 3 1 6 5 5 2 1 4 1 0"}}) {
    DYNAMIC_SECTION(form) {
      const InWords task("posgen:modulus=7,form=" + form);
      Example e;
      int n = 0;
      do {
        e = task.draw(12, n++);
      } while (task.question(e) != "2 0 3");  // the fourth token is read at the target position of the fifth
      while (task.text({e.tokens.begin(), e.tokens.begin() + 4}) != "2 0 3 1") e = task.draw(12, n++);
      CHECK(task.text({e.tokens.begin(), e.tokens.begin() + 4}) + " " + task.answer(e) == sequence);
    }
  }
}

TEST_CASE("PosGen: the published sizes, and the distance of the far token") {
  const std::map<std::string, Tokens> distances{
      {"recurrent", {4, 4, 4, 4, 4}}, {"cot", {4, 5, 6, 7, 8}}, {"semirecurrent", {4, 5, 5, 6, 6}}};
  for (const auto& [form, back] : distances) {
    const InWords task("posgen:form=" + form);
    CHECK(task.task().vocabulary() == 17);
    CHECK(task.task().lengths().text() == "64");
    CHECK(task.draw(9).distances == back);
    const InWords unseen("posgen:length=256,scored_from=64,form=" + form);
    const Example e = unseen.draw(256);
    CHECK(e.scored.size() == 192);
    CHECK(e.scored.front() == 63);  // whose target is token 64, the first that is never trained
  }
}

TEST_CASE("local count: runs and counts") {
  const InWords task("local_count");
  CHECK(task.answers("^ t7 t7 t7 t2 t2 t7 t7 t7 t7", {1, 2, 3, 4, 5, 6, 7, 8, 9}) == "0 1 2 0 1 0 1 2 3");
  const InWords published("local_count:run=2..48,longest=48,length=4");
  int runs = 0, tokens = 0;
  for (int n = 0; n < 2000; ++n) {
    const Example e = published.draw(4, n);
    for (const int distance : e.distances) runs += distance == 0;
    tokens += static_cast<int>(e.scored.size());
  }
  CHECK(runs == 4 * 2000);
  CHECK(static_cast<double>(tokens) / runs ==
        Approx(25).epsilon(0.02));  // (max_reps + 2) / 2, as the code reckons
}

TEST_CASE("n-back recalls the token n positions before") {
  const InWords task("n_back");
  CHECK(task.answers("5 2 7 7 1", {2, 3, 4}) == "5 2 7");
  for (const int steps : {1, 5}) {
    const InWords back(fmt::format("n_back:steps={}", steps));
    const Example e = back.draw(32);
    CHECK(static_cast<int>(e.scored.front()) == steps);
    for (const int t : e.scored) CHECK(e.targets[t] == e.tokens[t - steps]);
  }
}

TEST_CASE("multi-query multi-token recall: the example of the head comment, and the published numbers of pairs") {
  const InWords task("mqmtar");
  CHECK(task.answer("_ a3 a9 : a1 a7 _ _ _ a9 a3 : a4 a4 _ ? a9 a3 ? a3 a9 =", 4) == "a4 a4 a1 a7");
  for (const auto& [length, pairs] : std::map<int, int>{{32, 4}, {48, 6}, {64, 8}, {1024, 136}}) {
    const InWords published(fmt::format("mqmtar:alphabet=256,length={}", length));
    const Example e = published.draw(length);
    CHECK(std::count(e.tokens.begin(), e.tokens.end(), 1) == pairs);
    CHECK(std::count(e.tokens.begin(), e.tokens.end(), 2) == 4);
    CHECK(e.scored.front() == pairs * (length / pairs) + 4 * 3);
    CHECK(e.scored.size() == 8);
  }
}

TEST_CASE("copying, of tokens that are all different and of two kinds") {
  CHECK(InWords("unique_copy").answer("3 7 1 9 =", 5) == "3 7 1 9 =");
  CHECK(InWords("repeat_copy").answer("a b b a a =", 6) == "a b b a a =");
  const InWords unique("unique_copy");
  for (int n = 0; n < 100; ++n) {
    const Example e = unique.draw(60, n);
    CHECK(std::set<int>(e.tokens.begin(), e.tokens.begin() + 60).size() == 60);
  }
}

TEST_CASE("majority: no ties, and with two tokens a uniform number of each") {
  const InWords binary("majority"), letters("majority:symbols=26");
  CHECK(binary.answer("b a b b a =") == "b");
  CHECK(letters.answer("q c z c q c =") == "c");
  std::map<int, int> a;
  for (int n = 0; n < 7000; ++n) {
    const Example e = binary.draw(7, n);
    ++a[static_cast<int>(std::count(e.tokens.begin(), e.tokens.end() - 1, 0))];
    const Example other = letters.draw(12, n);
    CHECK(letters.answer(letters.question(other) + " =") == letters.answer(other));
  }
  CHECK(a.size() == 8);
  for (const auto& [zeros, samples] : a) CHECK(samples == Approx(875).epsilon(0.15));
}

TEST_CASE("interleaved majority: the example of the head comment") {
  CHECK(InWords("interleaved_majority").answer("0 1 1 0 0 1 1 0 1 =", 3) == "0 0 1");
}

TEST_CASE("forgetting recall: the example of Zoology, whose keys are A to D") {
  // A 5 B 3 C 7 D 2 A 9 C 1, then A and B: ids 1..4 are the keys, those of values start at 32
  const Example e{.tokens = {1, 37, 2, 35, 3, 39, 4, 34, 1, 41, 3, 33, 0, 0, 1, 0, 2, 0}, .scored = {14, 16}};
  CHECK(oracles().at("forgetting_mqar")(e) == Tokens{41, 35});
  const InWords task("forgetting_mqar");
  CHECK(task.answers("k2 v38 k4 v37 k2 v39 _ _ k4 _ k2 _", {8, 10}) == "v37 v39");
}

TEST_CASE("compositional recall: the example of Zoology") {
  const Example e{.tokens = {46, 96, 101, 14, 96, 128, 46, 87, 109, 14, 87, 112, 0, 0, 0, 14, 96, 0},
                  .scored = {16}};
  CHECK(oracles().at("compositional_mqar")(e) == Tokens{128});
}

TEST_CASE("compositional recall: neither key determines the value") {
  const InWords task("compositional_mqar");
  for (int n = 0; n < 100; ++n) {
    const Example e = task.draw(54, n);
    std::map<int, std::set<int>> values;
    for (int t = 0; t < 12; t += 3) {
      values[e.tokens[t]].insert(e.tokens[t + 2]);
      values[e.tokens[t + 1]].insert(e.tokens[t + 2]);
    }
    CHECK(values.size() == 4);
    for (const auto& [key, of_key] : values) CHECK(of_key.size() == 2);
  }
}

TEST_CASE("stacked recall: one token for each pair of every pass, and one for each question, as in Zoology") {
  const InWords task("stacked_mqar");
  CHECK(task.answers("k3:v5 k0:v2 k7:v4 k0? k7? k3?", {3, 4, 5}) == "v2 v4 v5");
  for (const int passes : {1, 3}) {
    const Example e = InWords(fmt::format("stacked_mqar:passes={}", passes)).draw(8);
    CHECK(static_cast<int>(e.tokens.size()) == (passes + 1) * 8);
    CHECK(e.scored.size() == 8);
  }
}

TEST_CASE("cumulative parity and majority: the examples of the head comments") {
  CHECK(InWords("cumulative_parity").answers("^ 1 0 1 1 0", {1, 2, 3, 4, 5}) == "1 1 0 1 1");
  CHECK(InWords("cumulative_majority").answers("1 0 0 1 1", {0, 1, 2, 3, 4}) == "1 1 0 1 1");
}

TEST_CASE("n-gram lookup finds what follows the key, which is given after the string or before it") {
  const InWords suffix("ngram_lookup"), prefix("ngram_lookup:form=prefix");
  CHECK(suffix.answer("q x a b c d e f u | b c d =", 3) == "e f u");
  for (int n = 0; n < 200; ++n) {
    const Example e = prefix.draw(20, n);
    std::string key = prefix.text({e.tokens.begin(), e.tokens.begin() + 3});
    const std::string string = prefix.text({e.tokens.begin() + 4, e.tokens.begin() + 24});
    CHECK(string.find(key + " " + prefix.answer(e)) != std::string::npos);
    CHECK(string.find(key, string.find(key) + 1) == std::string::npos);
    CHECK(e.tokens[e.scored[0] - e.distances[0]] == e.targets[e.scored[0]]);
  }
}

TEST_CASE("variable tracking: the example of RULER's table 2, X1 to X3 and Y1 to Y3") {
  const InWords task("variable_tracking");
  CHECK(task.answer(". . p = 1 ; . u = 5 ; . . q = p ; . v = u ; . r = q ; . w = v ; 1 =", 3) == "p q r");
  CHECK(task.answer(". x = 7 ; . k = 3 ; y = x ; . . m = k ; z = y ; . 7 =", 3) == "x y z");
}

TEST_CASE("common words: the example of RULER's table 2") {
  // aaa bbb ccc aaa ddd eee ccc fff ggg hhh iii iii
  CHECK(InWords("common_words").answer("w1 w2 w3 w1 w4 w5 w3 w6 w7 w8 w9 w9 =", 3) == "w1 w3 w9");
  CHECK(InWords("common_words").answer("w9 w4 w2 w9 w7 w2 w2 w9 =", 2) == "w2 w9");
}

TEST_CASE("frequent words: the example of RULER's table 2") {
  // aaa bbb ccc aaa ddd eee ccc fff ggg aaa hhh aaa ccc iii iii
  CHECK(InWords("frequent_words").answer("w1 w2 w3 w1 w4 w5 w3 w6 w7 w1 w8 w1 w3 w9 w9 =", 3) == "w1 w3 w9");
  CHECK(InWords("frequent_words").answer(". w5 . . w9 . w5 w1 . w5 w9 . =", 3) == "w5 w9 w1");
}

TEST_CASE("frequent words occur as often as in a zeta distribution, rounded down") {
  const InWords task("frequent_words:length=1000");
  const Example e = task.draw(1000);
  std::map<int, int> counts;
  for (int t = 0; t < e.scored.front(); ++t) ++counts[e.tokens[t]];
  CHECK(counts.at(64) == 607);  // 1000 * 6 / pi^2
  Tokens of_answer;
  for (const int t : e.scored) of_answer.push_back(counts.at(e.targets[t]));
  CHECK(of_answer == Tokens{151, 67, 37});
}

TEST_CASE("parity with index hints: the forms of the head comment") {
  const InWords task("index_hint_parity");
  CHECK(task.answer("h4 1 h5 0 h6 1 h7 1 =", 7) == "h4 1 h6 0 h7 1 .");
  CHECK(task.answer("h0 0 h1 0 =") == ".");
  for (int n = 0; n < 100; ++n) {
    const InWords steps("index_hint_parity:hints=0"), alone("index_hint_parity:scratchpad=false");
    const Example e = steps.draw(9, n);
    int parity = 0;
    std::string expected;
    for (int t = 0; t < 9; ++t) expected += std::to_string(parity ^= e.tokens[t]) + " ";
    CHECK(steps.answer(e) == expected + ".");
    const Example f = alone.draw(9, n);
    int ones = 0;
    for (int t = 1; t < 18; t += 2) ones += f.tokens[t];
    CHECK(alone.answer(f) == std::to_string(ones % 2));
  }
}

TEST_CASE("addition with index hints: the prompt and answer of the released program, for its 6683 and 345") {
  // There hints are -100, -101, ..., and the answer starts with the last.
  CHECK(InWords("index_hint_addition").answer("h0 0 h1 6 h2 6 h3 8 h4 3 + h0 0 h1 0 h2 3 h3 4 h4 5 =", 11) ==
        "h4 8 h3 2 h2 0 h1 7 h0 0 .");
  CHECK(InWords("index_hint_addition").answer("h4 0 h5 5 h6 7 + h4 0 h5 6 h6 8 =", 7) == "h6 5 h5 2 h4 1 .");
}

TEST_CASE("addition with index hints: carries, no hints, and the most significant digit first") {
  const InWords carries("index_hint_addition:scratchpad=true,hints=0");
  const InWords reversed("index_hint_addition:hints=0"), forward("index_hint_addition:reversed=false");
  for (int n = 0; n < 300; ++n) {
    const Example e = carries.draw(6, n);
    int carry = 0;
    Tokens expected;
    for (int position = 6; position >= 0; --position) {
      const int sum = e.tokens[position] + e.tokens[8 + position] + carry;
      carry = sum / 10;
      expected.insert(expected.end(), {sum % 10, carry});
    }
    CHECK(carries.answer(e) == carries.text(expected) + " .");
    Tokens digits;
    for (size_t t = 0; t < expected.size(); t += 2) digits.push_back(expected[t]);
    CHECK(reversed.answer(reversed.draw(6, n)) == reversed.text(digits) + " .");

    const Example f = forward.draw(6, n);
    const std::string backward =
        forward.answer(forward.question(f) + " =", 15);  // the oracle's: hint, digit, ... .
    Tokens pairs = forward.ids(backward), straight;
    for (size_t t = pairs.size() - 1; t >= 2; t -= 2)
      straight.insert(straight.end(), {pairs[t - 2], pairs[t - 1]});
    CHECK(forward.answer(f) == forward.text(straight) + " .");
  }
}

TEST_CASE("k-hop: the example of the paper, baebcabebdea") {
  const InWords task("k_hop:symbols=5,hops=1..2");
  const std::string sequence = "b a e b c a b e b d e a";
  const auto last_answer = [&](int hops) {
    Tokens tokens = task.ids(sequence);
    tokens.insert(tokens.begin(), 4 + hops);  // the oracle is the default's: four tokens, ~, then the hops
    return task.text(oracles().at("k_hop")(Example{.tokens = tokens, .scored = {12}}));
  };
  CHECK(last_answer(1) == "b");
  CHECK(last_answer(2) == "c");
}

TEST_CASE("path-star: graphs of the released data, for two and five arms") {
  for (const std::string line : {"2,8|5,2|5,9|9,3/5,8=5,2,8", "1,6|1,5|5,3|6,2/1,2=1,6,2",
                                 "32,3|16,12|3,19|32,34|34,6|6,16|19,47|47,28/32,12=32,34,6,16,12",
                                 "17,12|22,28|49,17|9,24|49,9|13,7|12,22|24,13/49,7=49,9,24,13,7",
                                 "9,32|4,46|25,37|10,25|0,43|10,9|10,7|10,0|10,4|7,48/10,32=10,9,32"}) {
    std::string words;
    for (const char c : line) {
      words += c == ',' ? std::string(" ") : std::isdigit(c) ? std::string(1, c) : " " + std::string(1, c) + " ";
    }
    const size_t equals = words.find('=');
    const InWords task("path_star");
    const std::string answer = words.substr(equals + 2);
    CHECK(task.answer(words.substr(0, equals + 1), static_cast<int>(task.ids(answer).size())) == answer);
  }
}

TEST_CASE("path-star backwards is the same arm from its end") {
  const InWords task("path_star:reversed=true");
  for (int n = 0; n < 100; ++n) {
    const Example e = task.draw(5, n);
    CHECK(task.answer(task.question(e) + " =", 5) == reversed_words(task.answer(e)));
  }
}

TEST_CASE("last-x retrieval with option which queries an earlier X, and changes nothing else") {
  const InWords last("last_x_retrieval"), third("last_x_retrieval:which=3"), few("last_x_retrieval:which=3,rho=0");
  for (int n = 0; n < 300; ++n) {
    for (const InWords* task : {&third, &few}) {
      const Example e = task->draw(32, n);
      Tokens payloads, items;
      for (int item = 31; item >= 0; --item) {
        if (e.tokens[2 * item] != 1) continue;
        payloads.push_back(e.tokens[2 * item + 1]);
        items.push_back(item);
      }
      REQUIRE(payloads.size() >= 3);
      CHECK(e.targets.back() == payloads[2]);
      CHECK(e.distances == Tokens{31 - items[2]});
    }
    const Example one = last.draw(32, n), other = third.draw(32, n);
    const bool enough = std::count(one.tokens.begin(), one.tokens.end(), 1) >= 3;
    if (enough) CHECK(one.tokens == other.tokens);
  }
}

TEST_CASE("last-x retrieval can query an earlier X in every split") {
  for (const TaskInfo::Split& split : tasks().find("last_x_retrieval").info.splits) {
    const auto task = make_task(Spec::parse("last_x_retrieval:which=8"), split, Layout::slots);
    for (int n = 0; n < 100; ++n) {
      Rng rng = stream(0, "which", n);
      const Example e = task->sample(task->lengths().draw(rng), rng);
      REQUIRE(std::count(e.tokens.begin(), e.tokens.end(), 1) >= 8);
      CHECK(e.targets.back() == e.tokens[e.tokens.size() - 2 - 2 * e.distances[0]]);
    }
  }
}

TEST_CASE("i-th word counts only nouns, from the start or from the end") {
  const InWords start("ith_word"), end("ith_word:from=end");
  CHECK(start.answer("the N5 a is N2 of N7 2 =") == "N2");
  CHECK(start.answer("the N5 a is N2 of N7 1 =") == "N5");
  for (int n = 0; n < 200; ++n) {
    const Example e = end.draw(24, n);
    Tokens nouns;
    for (const int token : e.tokens) {
      if (token >= 8 && token < 24) nouns.push_back(token);
    }
    const int index = e.tokens[24] - 23;
    CHECK(e.targets.back() == nouns[nouns.size() - index]);
    CHECK(e.tokens[24 - e.distances[0]] == e.targets.back());
  }
}

TEST_CASE("ListOps: the example of Long Range Arena, and each operation") {
  const InWords task("listops");
  CHECK(task.answer("[MAX 2 9 [MIN 4 7 ] 0 ] =") == "9");
  CHECK(task.answer("[SM 2 6 5 ] =") == "3");
  CHECK(task.answer("[MED 8 1 4 ] =") == "4");
  CHECK(task.answer("[MED 8 1 4 5 ] =") == "4");  // 4.5, as an integer
  CHECK(task.answer("[MIN 7 [SM 9 9 ] [MED 3 2 ] ] =") == "2");
}

TEST_CASE("navigation: the example of the head comment, and walks that always come back") {
  CHECK(InWords("navigation_2d").answers("E o3 E _ W o3 N o7 S", {4, 8}) == "o3 o3");
  const InWords straight("navigation_2d:size=64,walk=10,length=3");
  for (int n = 0; n < 50; ++n) {
    const Example e = straight.draw(3, n);
    CHECK(e.scored == Tokens{4});
    CHECK(e.targets[4] == e.tokens[1]);
    CHECK(e.distances == Tokens{2});
  }
  const InWords published("navigation_2d:size=64,walk=1..10,length=128");
  CHECK(published.task().vocabulary() == 4 + 16 + 1);
  CHECK(published.draw(128).tokens.size() == 255);
}

TEST_CASE("words of S3 and S4 multiply from left to right") {
  for (const auto& [group, order] : std::map<std::string, int>{{"s3", 6}, {"s4", 24}}) {
    const InWords task("group_word:group=" + group);
    CHECK(task.task().vocabulary() == order + 1);
    const Example e = task.draw(30);
    CHECK(task.text(oracles().at("group_word")(e)) == task.answer(e));
    std::string where = task.task().word(0);
    for (size_t t = 1; t < e.tokens.size(); ++t) {
      for (char& point : where) point = task.task().word(e.tokens[t])[point - '1'];
      CHECK(task.task().word(e.targets[t]) == where);
    }
  }
}

TEST_CASE("incompatible options of these tasks are refused with what to change") {
  const auto [spec, message] = GENERATE(table<std::string, std::string>({
      {"indirect_indexing:shift=20..30",
       "task 'indirect_indexing': shift 20..30 leaves every string of 20 letters; lower it or raise length"},
      {"posgen:length=64,scored_from=64",
       "task 'posgen': length 64 scores nothing, since the first 64 positions are not scored; raise it"},
      {"local_count:run=2..20", "task 'local_count': run 20 is longer than longest 16; raise longest"},
      {"n_back:steps=32,length=32",
       "task 'n_back': steps 32 needs a length of 33 at least, not 32; lower it or raise length"},
      {"mqmtar:length=7",
       "task 'mqmtar': fraction 0.8 of length 7 cannot hold a pair of 5 tokens and a space; raise one of them"},
      {"mqmtar:alphabet=2", "task 'mqmtar': alphabet 2 has too few words for 8 pairs; raise it or lower length"},
      {"unique_copy:length=61",
       "task 'unique_copy': length 61 needs as many symbols, not 60; raise symbols or lower length"},
      {"forgetting_mqar:updates=5", "task 'forgetting_mqar': updates 5 is more than pairs 4; lower it"},
      {"forgetting_mqar:length=18",
       "task 'forgetting_mqar': pairs 4 and updates 2 need a length of 20 at least, not 18; raise length"},
      {"forgetting_mqar:length=65", "task 'forgetting_mqar': length 65 is odd; keys and values need an even one"},
      {"forgetting_mqar:vocabulary=8",
       "task 'forgetting_mqar': pairs 4 needs more keys than the 3 of vocabulary 8; raise vocabulary"},
      {"compositional_mqar:grid=4",
       "task 'compositional_mqar': grid 4 needs a length of 96 at least, not 54; lower it or raise length"},
      {"compositional_mqar:vocabulary=9",
       "task 'compositional_mqar': grid 2 needs more ids than vocabulary 9 has; lower it or raise vocabulary"},
      {"stacked_mqar:length=17",
       "task 'stacked_mqar': length 17 needs as many keys, not 16; raise keys or lower length"},
      {"ngram_lookup:length=5",
       "task 'ngram_lookup': key 3 and answer 3 need a length of 6 at least, not 5; raise length"},
      {"ngram_lookup:symbols=3",
       "task 'ngram_lookup': a key of 3 out of 3 tokens is rarely found once only in 24; raise key or symbols"},
      {"variable_tracking:chains=10",
       "task 'variable_tracking': 10 chains of 2 hops need more than the 26 variables; lower one"},
      {"common_words:length=70",
       "task 'common_words': length 70 and common 3 need 73 symbols, not 64; raise symbols"},
      {"frequent_words:length=50",
       "task 'frequent_words': at length 50 ranks 4 and 5 come equally often, 1 times; choose another length"},
      {"frequent_words:symbols=4", "task 'frequent_words': length 64 needs more than 4 symbols; raise them"},
      {"index_hint_parity:hints=8",
       "task 'index_hint_parity': length 16 needs as many hints, not 8; raise hints or lower length"},
      {"index_hint_addition:hints=8",
       "task 'index_hint_addition': length 8 needs 9 hints, not 8; raise hints or lower length"},
      {"path_star:nodes=8", "task 'path_star': degree 2 and length 5 need 9 nodes, not 8; raise nodes"},
      {"last_x_retrieval:which=33",
       "task 'last_x_retrieval': which 33 needs as many items, not 32; lower it or lengthen length"},
      {"listops:length=16",
       "task 'listops': depth 4 may hold only 15 operations, not 16; raise it or lower length"},
  }));
  const Spec parsed = Spec::parse(spec);
  CHECK_THROWS_WITH(tasks().find(parsed.name).make(parsed, Layout::teacher_forced), message);
}
