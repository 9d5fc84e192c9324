// Tests the layouts and segments of examples, and the oracles with published ones.
#include "tasks/parts/examples.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("a teacher-forced answer and one in empty slots have the same target positions") {
  const Example forced = ask(Layout::teacher_forced, {7, 8}, 9, {1, 2, 3}, 2);
  CHECK(forced.tokens == Tokens{7, 8, 9, 1, 2});
  CHECK(forced.targets == Tokens{kIgnore, kIgnore, 1, 2, 3});
  CHECK(forced.scored == Tokens{2, 3});
  CHECK(forced.segments == Tokens{0, 0, 1, 1, 1});
  const Example slots = ask(Layout::slots, {7, 8}, 9, {1, 2, 3});
  CHECK(slots.tokens == Tokens{7, 8, 9, 9, 9});
  CHECK(slots.targets == forced.targets);
  CHECK(slots.scored == Tokens{2, 3, 4});
}

TEST_CASE("a delimiter belongs to the segment that it ends") {
  CHECK(segments_ended_by(0, Tokens{5, 0, 6, 7, 0, 8}) == Tokens{0, 0, 1, 1, 1, 2});
}

TEST_CASE("the distance of an answer counts the tokens back to its evidence") {
  Example example = ask(Layout::teacher_forced, {7, 8, 6}, 9, {8, 7});
  set_evidence(example, {1, 0});
  CHECK(example.scored == Tokens{3, 4});
  CHECK(example.evidence == Tokens{1, 0});
  CHECK(example.distances == Tokens{2, 4});
}

TEST_CASE("tasks that are published with slots have no teacher forcing in any layout") {
  for (const std::string name : {"selective_copy_mamba", "mad_selective_copying"}) {
    Rng rng = make_rng(0, name);
    const Example e = make(name)->sample(16, rng);
    for (const int t : e.scored) CHECK(e.tokens[t] == e.tokens[e.scored.front()]);
  }
}

TEST_CASE("selective copying of MAD: no blank follows the last data token") {
  Rng rng = make_rng(0, "mad");
  const auto task = make("mad_selective_copying:blanks=13.9375", Layout::slots);
  const Example published = task->sample(16, rng);
  CHECK(published.tokens.size() == 256);
  CHECK(published.tokens[239] == 15);
  CHECK(published.tokens[238] < 14);
}

namespace {

/// Returns the oracle's answers to a text as `posbench sample` prints it: a star follows each scored token.
/// Without stars the last token is the first of `count` scored positions.
std::string answers(const TextTask& task, const std::string& text, size_t count) {
  std::istringstream words(text);
  std::string plain;
  Tokens scored;
  int position = 0;
  for (std::string word; words >> word; ++position) {
    if (word.size() > 1 && word.ends_with('*')) {
      scored.push_back(position);
      word.pop_back();
    }
    plain += word + " ";
  }
  return scored.empty() ? task.answer(plain, static_cast<int>(count)) : task.answers(plain, scored);
}

}  // namespace

TEST_CASE("the oracles answer published examples, and those in the files of the tasks") {
  const auto [spec, text, expected] = GENERATE(table<std::string, std::string, std::string>({
      // associative recall: Zoology's docstring; Based; Zoology; PaTH, which asks for the last value but one
      {"mqar", "k2 k8 k4 k7 _ _ k4* _ _ _ _ _ k2* _ _", "k7 k8"},
      {"mqar", "k1 v36 k2 v35 k3 v38 k6 v33 k5 v34 k1* _ k3* _ k6* _ k5* _ k2* _", "v36 v38 v33 v34 v35"},
      {"forgetting_mqar", "k1 v37 k2 v35 k3 v39 k4 v34 k1 v41 k3 v33 _ _ k1* _ k2* _", "v41 v35"},
      {"forgetting_mqar", "k2 v38 k4 v37 k2 v39 _ _ k4* _ k2* _", "v37 v39"},
      {"mqrar", "k0 v33 k1 v34 k0* v35 k0* v36 k1* v37 k0* v38", "v33 v35 v34 v36"},
      {"mqrar", "k0 v33 k1 v34 k0 v35 k0* v36 k1 v37 k0* v38", "v33 v35"},
      {"mqrar", "k0 v33 k1 v34 k2 v35 k3 v36 k0 v37 k1 v38 k0* v39 k2 v40 k0* v41 k1* v32", "v33 v37 v34"},
      {"then", "2 0 0 _' k3 v9 k1 v6 k5 v11 k2 v8 k4 v7 _ _ ?", "v11"},
      // length generalization: 7595 * 79 is figure 17, and the last board figure 9 of arXiv:2405.20671
      {"multiplication", "1 2 * 3 4 =", "8 4 0 + 6 3 0 = 8 4 0 0 > 8 0 4 0 ."},
      {"multiplication",
       "3 4 7 * 1 0 5 =", "5 3 7 1 + 0 0 0 0 + 7 4 3 0 = 5 3 7 1 0 0 > 5 3 7 1 0 0 > 5 3 4 6 3 0 ."},
      {"multiplication", "0 * 7 =", "0 0 = 0 0 ."},
      {"multiplication", "7 5 9 5 * 7 9 =", "5 5 3 8 6 + 5 6 1 3 5 = 5 5 3 8 6 0 > 5 0 0 0 0 6 ."},
      {"mano", "* + 3 4 - 1 2 =", "3"},
      {"mano:modulus=23", "+ * - 15 + 9 16 10 - 5 + * 10 - 8 21 * * 17 7 1 =", "8"},  // of the released program
      {"minesweeper", "M E E / E E M =", "M 2 1 1 2 M"},
      {"minesweeper", "E M E E / E E E M / M E E E =", "1 M 2 1 2 2 2 M M 1 1 1"},
      {"minesweeper", "M M M / M E M / M M M =", "M M M M 8 M M M M"},
      {"minesweeper", "M E E / E E E / E E M =", "M 1 0 1 2 1 0 1 M"},
      {"minesweeper", "E E M =", "0 1 M"},
      {"minesweeper", "E M E / E E M / E E E =", "1 M 2 1 2 M 0 1 1"},
      {"unique_copy", "3 7 1 9 =", "3 7 1 9 ="},
      {"repeat_copy", "a b b a a =", "a b b a a ="},
      {"majority", "a b b a b =", "b"},
      {"majority:symbols=26", "q c z c q c =", "c"},
      {"interleaved_majority", "0 1 1 0 0 1 1 0 1 =", "0 0 1"},
      {"index_hint_parity", "h4 1 h5 0 h6 1 h7 1 =", "h4 1 h6 0 h7 1 ."},
      {"index_hint_parity", "h0 0 h1 0 =", "."},
      // of the released program, for 6683 and 345; its hints are -100, -101, ..., and the answer starts with the
      // last
      {"index_hint_addition",
       "h0 0 h1 6 h2 6 h3 8 h4 3 + h0 0 h1 0 h2 3 h3 4 h4 5 =", "h4 8 h3 2 h2 0 h1 7 h0 0 ."},
      {"index_hint_addition", "h4 0 h5 5 h6 7 + h4 0 h5 6 h6 8 =", "h6 5 h5 2 h4 1 ."},
      // counting: table 2 of RULER with w1 for aaa
      {"local_count", "^ t7* t7* t7* t2* t2* t7* t7* t7* t7*", "0 1 2 0 1 0 1 2 3"},
      {"counting:variables=3", "a = 0 ; pass; a ++; b = 0 ; pass; a ++; b ++; print a", "2"},
      {"common_words", "w1 w2 w3 w1 w4 w5 w3 w6 w7 w8 w9 w9 =", "w1 w3 w9"},
      {"common_words", "w9 w4 w2 w9 w7 w2 w2 w9 =", "w2 w9"},
      {"frequent_words", "w1 w2 w3 w1 w4 w5 w3 w6 w7 w1 w8 w1 w3 w9 w9 =", "w1 w3 w9"},
      {"frequent_words", ". w5 . . w9 . w5 w1 . w5 w9 . =", "w5 w9 w1"},
      {"ith_word", "the N5 a is N2 of N7 2 =", "N2"},
      {"ith_word", "the N5 a is N2 of N7 1 =", "N5"},
      // hierarchical: Long Range Arena, and each operation; 4.5 becomes an integer
      {"listops", "[MAX 2 9 [MIN 4 7 ] 0 ] =", "9"},
      {"listops", "[SM 2 6 5 ] =", "3"},
      {"listops", "[MED 8 1 4 ] =", "4"},
      {"listops", "[MED 8 1 4 5 ] =", "4"},
      {"listops", "[MIN 7 [SM 9 9 ] [MED 3 2 ] ] =", "2"},
      {"induction_heads", "3 7 ! 5 1 0 5 !", "5"},
      {"random_automaton", "a c b c d | b c* d a c b*", "d c"},
      {"graph_reachability", "2 8 | 5 4 | 8 3 | 4 9 / 2 3 =", "yes"},
      {"graph_reachability", "2 8 | 5 4 | 8 3 | 4 9 / 2 9 =", "no"},
      {"graph_reachability", "2 8 | 5 4 | 8 3 | 4 9 / 3 2 =", "no"},
      {"graph_reachability", "4 9 | 5 4 / 5 9 =", "yes"},
      {"brevo", "4 7 | 1 4 | 1 7 | 9 3 / 7 =", "1 4 7"},
      // of the released program, which answers 17 before 2
      {"brevo", "1 4 | 2 1 | 17 1 | 18 1 | 17 18 | 2 18 / 4 =", "2 17 18 1 4"},
      {"recognition", "1 1 0 1 0 0 1 0 ?", "yes"},
      {"recognition", "1 1 0 1 1 1 1 0 ?", "no"},
      // retrieval: the papers of indirect indexing and of set disjointness; RULER with k0 for long-context, k1 for
      // large-model, and one-letter variables
      {"count_word_last_sentence", "2 0 1 3 4 3 5 2 6 . 7 8 9 10 11 12 . ? 2",
       "#0"},  // Alice and book of CoPE's paper
      {"count_word_last_sentence", "2 0 1 3 4 3 5 2 6 . 7 8 9 10 11 12 . ? 3", "#0"},
      {"indirect_indexing", "Q E O H O U D K f e S r M V N l C z X u , z , - 3 ,", "N"},
      {"indirect_indexing", "T z b k W o K D y s c B e p Y v f w x E V Q t g P a , c , - 8 ,", "b"},
      {"indirect_indexing", "N Z T U I G W k X F r h C J D z s c a t , N , + 4 ,", "I"},
      {"indirect_indexing",
       "R B E v O P g t a G D n j h b J C L S c r u Z p M N s y W f Q x X F A z U T , x , + 2 ,", "F"},
      {"indirect_indexing", "A B S C O P Z G , Z , - 3 ,", "C"},
      {"index_retrieval", "A k T w start 2 =", "k"},
      {"index_retrieval", "A k T w end 2 =", "T"},
      {"index_retrieval:query=index,from=both", "A k T w end k =", "3"},
      {"index_retrieval:query=index,from=both", "A k T w start k =", "2"},
      {"set_disjointness", "e4 e9 e1 e6 ; e2 e7 e9 e5 e8 =", "e9"},
      {"set_disjointness", "e7 e11 e17 e16 e4 e6 e9 ; e8 e1 e5 e6 =", "e6"},
      {"set_disjointness", "e25 e7 e29 e19 ; e11 e5 e18 e10 e9 e7 e6 e27 =", "e7"},
      {"n_back", "5 2 7* 7* 1*", "5 2 7"},
      {"ngram_lookup", "q x a b c d e f u | b c d =", "e f u"},
      {"variable_tracking", ". . p = 1 ; . u = 5 ; . . q = p ; . v = u ; . r = q ; . w = v ; 1 =", "p q r"},
      {"variable_tracking", ". x = 7 ; . k = 3 ; y = x ; . . m = k ; z = y ; . 7 =", "x y z"},
      {"depo", "2- 5 0- 3 | 4 2- 5 | 0- 3 4 | > > 2- 5 =", "4"},
      {"depo:symbols=50", "36 46 | 31- 38 36 | 46 31- 38 | > > 36 =", "31- 38"},  // of the released program
      {"mrcr", "k3 : w1 w6 w2 . k0 : w4 w4 w7 . k3 : w1 w5 w2 . k1 : w0 w6 w3 . ? k3 2 =", "w1 w5 w2"},
      {"needle", "w3 w7 k4 : 2 9 . w1 k2 : 5 0 . w3 w3 ? k2 =", "5 0"},
      {"needle", "k4 : 2 9 . w1 k2 : 5 0 . k4 : 7 7 . w3 ? k4 k2 =", "2 9 7 7 5 0"},
      {"needle", "w0 w1 k0 : 1 2 3 4 5 . w2 ? k0 =", "1 2 3 4 5"},
      {"needle", "w0 k0 : 1 2 3 4 5 . k1 : 5 4 3 2 1 . w1 ? k0 =", "1 2 3 4 5"},
      {"needle", "w0 k0 : 1 2 3 4 5 . k0 : 5 4 3 2 1 . w1 ? k0 =", "1 2 3 4 5 5 4 3 2 1"},
      {"needle", "w0 k0 : 1 2 3 4 5 . k1 : 5 4 3 2 1 . w1 ? k0 k1 =", "1 2 3 4 5 5 4 3 2 1"},
      // state tracking: the parity of 0011 (Merrill et al., example 3.2), with 0 as the identity and 1 as a
      // transposition; (1,3,2) (3,1,2) = (2,1,3) in a test of their code, where the later factor acts first;
      // (1 2 3) (1 2 4) and their inverses, which do not commute (Yang et al. 2025, section 4.1)
      {"cumulative_parity", "^ 1* 0* 1* 1* 0*", "1 1 0 1 1"},
      {"cumulative_majority", "1* 0* 0* 1* 1*", "1 1 0 1 1"},
      {"navigation_2d", "E o3 E _ W* o3 N o7 S*", "o3 o3"},
      {"tracking_recall", "k3 =2 k0 =4 k3 +4 k0 =1 k3 +3 k0 ?", "1"},
      {"tracking_recall", "k3 =2 k0 =4 k3 +4 k0 =1 k3 +3 k3 ?", "4"},
      {"group_word", "begin 23145* 21354*", "23145 13254"},
      {"group_word:group=s3", "begin 123* 123* 213* 213*", "123 123 213 123"},
      {"group_word:group=s3", "begin 312* 132*", "312 213"},
      {"group_word", "begin 23145* 24315* 31245* 41325*", "23145 43215 42135 21435"},
      {"regular:language=tomita4", "tomita4 0* 0* 1* 0*", "{01$} {1$} {01$} {01$}"},
      {"regular", "012_02 0* 2* 1* 2*", "{012$} {012$} {012} {012}"},
  }));
  CAPTURE(spec, text);
  CHECK(answers(TextTask(spec), text, static_cast<size_t>(std::ranges::count(expected, ' ')) + 1) == expected);
}

TEST_CASE("the oracles answer worked examples of token ids") {
  struct Row {
    const char* task;
    Example example;
    Tokens answers;
  };
  const Tokens sentences{0, 8, 3, 16, 2, 2, 15, 16, 9, 1, 16};
  constexpr Layout kForced = Layout::teacher_forced, kSlots = Layout::slots;
  for (const Row& row : std::vector<Row>{
           {"last_x_retrieval", {.tokens = {1, 5, 0, 3, 1, 6, 0, 4, 0, 5, 2}, .scored = {10}}, {6}},
           {"mad_in_context_recall", predict_next({3, 9, 0, 12, 3, 9, 5, 8, 0, 12}, {4, 8}, Loss::clean), {9, 12}},
           {"mad_noisy_in_context_recall",
            predict_next({3, 9, 20, 17, 0, 12, 3, 9, 31, 16, 0, 12}, {6, 10}, Loss::clean),
            {9, 12}},
           {"mad_fuzzy_in_context_recall",
            predict_next({2, 4, 9, 4, 2, 7, 2, 11, 12, 2, 4, 9, 2, 11, 12}, {10, 12, 13}, Loss::clean),
            {9, 11, 12}},
           // of Zoology
           {"compositional_mqar",
            {.tokens = {46, 96, 101, 14, 96, 128, 46, 87, 109, 14, 87, 112, 0, 0, 0, 14, 96, 0}, .scored = {16}},
            {128}},
           // the second is the published illustration D B B C F B F B E
           {"selective_copy", ask(kForced, {3, 4, 4, 2, 1, 4, 1, 4, 0}, 5, {3, 2, 1, 1, 0}), {3, 2, 1, 1, 0}},
           {"selective_copy", ask(kForced, {3, 6, 6, 2, 5, 6, 5, 6, 4}, 7, {3, 2, 5, 5, 4}), {3, 2, 5, 5, 4}},
           {"selective_copy_mamba",
            ask(kSlots, {0, 6, 0, 0, 0, 0, 0, 6, 7, 0, 7, 5, 0, 0, 0}, 9, {6, 6, 7, 7, 5}),
            {6, 6, 7, 7, 5}},
           {"mad_selective_copying", ask(kSlots, {3, 14, 14, 7, 14, 0, 15}, 14, {3, 7, 0}), {3, 7, 0}},
           {"count_word_last_sentence", {.tokens = {2, 2, 1, 0, 4, 3, 2, 0, 1, 4, 5, 2}, .scored = {11}}, {7}},
           {"count_word_last_sentence", {.tokens = {2, 2, 1, 0, 4, 3, 1, 0, 1, 4, 5, 2}, .scored = {11}}, {6}},
           {"ith_last_sentence", ask(kForced, sentences, 17, {9}), {9}},
           {"ith_last_sentence", ask(kForced, sentences, 18, {15}), {15}},
           {"ith_last_sentence", ask(kForced, sentences, 19, {8}), {8}},
           {"dyck", predict_next({1, 0, 8, 3, 11, 9, 2, 10, 16}, {1, 3, 4, 6}, Loss::noisy), {8, 11, 9, 10}},
           {"induction_repeat", predict_next({5, 2, 7, 2, 5, 2, 7, 2}, {4, 5, 6}, Loss::clean), {2, 7, 2}}}) {
    INFO(row.task);
    CHECK(oracles().at(row.task)(row.example) == row.answers);
  }
}
