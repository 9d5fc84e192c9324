// Tests that options which contradict each other are refused.
#include <string>

#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("options that contradict each other are refused with the name of the task and the contradiction") {
  const auto [spec, reason] = GENERATE(table<std::string, std::string>({
      {"mqar:length=64,pairs=17", "pairs 17 needs a length of 68 at least, not 64"},
      {"mqar:length=63", "length 63 is odd"},
      {"mqar:vocabulary=8", "pairs 4 needs more keys than the 3 of vocabulary 8"},
      {"count_word_last_sentence:words=2..3", "largest 4 does not fit into a sentence of words 2..3"},
      {"ith_last_sentence:length=3..6", "farthest 4 needs more than 3 sentences"},
      {"induction_heads:farthest=1", "farthest is 1, but the shortest distance is 2"},
      {"mad_fuzzy_in_context_recall:key=8", "key 8 needs more ids than the 7 of vocabulary 15"},
      {"mad_fuzzy_in_context_recall:value=9", "value 9 needs more ids than the 8 of vocabulary 15"},
      {"mad_fuzzy_in_context_recall:length=8", "length 8 cannot hold 3 pairs of 3 tokens"},
      {"indirect_indexing:shift=20..30", "shift 20..30 leaves every string of 20 letters"},
      {"posgen:length=64,scored_from=64", "length 64 scores nothing, since the first 64 positions are not scored"},
      {"local_count:run=2..20", "run 20 is longer than longest 16"},
      {"n_back:steps=32,length=32", "steps 32 needs a length of 33 at least, not 32"},
      {"mqmtar:length=7", "fraction 0.8 of length 7 cannot hold a pair of 5 tokens and a space"},
      {"mqmtar:alphabet=2", "alphabet 2 has too few words for 8 pairs"},
      {"unique_copy:length=61", "length 61 needs as many symbols, not 60"},
      {"sorting:length=1..21,distinct=true", "length 21 with distinct=true needs as many different items, not 20"},
      {"sorting:form=multi,length=9991,distinct=true", "length 9991 with distinct=true needs as many different"},
      {"forgetting_mqar:updates=5", "updates 5 is more than pairs 4"},
      {"forgetting_mqar:length=18", "pairs 4 and updates 2 need a length of 20 at least, not 18"},
      {"forgetting_mqar:length=65", "length 65 is odd"},
      {"forgetting_mqar:vocabulary=8", "pairs 4 needs more keys than the 3 of vocabulary 8"},
      {"mqrar:keys=33", "keys 33 is more than the 32 of vocabulary 64"},
      {"mqrar:keys=16,which=2", "keys 16 and which 2 need a length of 66 at least, not 32"},
      {"then:of=parity_check", "of is 'parity_check', expected two tasks"},
      {"then:of=(parity_check:length=9,mqar)", "'parity_check:length=9' sets length"},
      {"then:of=(parity_check,mqar:length=64)", "'mqar:length=64' sets length"},
      {"then:of=(parity_check,mqar)", "'parity_check' has 2 results, and 'mqar' asks with 31 different tokens"},
      {"then:of=(parity_check,cycle_navigation)",
       "'parity_check' has 2 results, and 'cycle_navigation' asks with 1 different tokens"},
      {"then:of=(duplicate_string,mqar:vocabulary=6,pairs=2)", "the answers of 'duplicate_string' have several"},
      {"mqrar:length=63", "length 63 is odd"},
      {"compositional_mqar:grid=4", "grid 4 needs a length of 96 at least, not 54"},
      {"compositional_mqar:vocabulary=9", "grid 2 needs more ids than vocabulary 9 has"},
      {"stacked_mqar:length=17", "length 17 needs as many keys, not 16"},
      {"needle:keys=17", "keys 17 need as many names, not 16"},
      {"needle:queries=5", "queries 5 need as many keys, not 4"},
      {"ngram_lookup:length=5", "key 3 and answer 3 need a length of 6 at least, not 5"},
      {"ngram_lookup:symbols=3", "a key of 3 out of 3 tokens is rarely found once only in 24"},
      {"variable_tracking:chains=10", "10 chains of 2 hops need more than the 26 variables"},
      {"common_words:length=70", "length 70 and common 3 need 73 symbols, not 64"},
      {"frequent_words:length=50", "at length 50 ranks 4 and 5 occur equally often, 1 times"},
      {"frequent_words:symbols=4", "length 64 needs more than 4 symbols"},
      {"index_hint_parity:hints=8", "length 16 needs as many hints, not 8"},
      {"index_hint_addition:hints=8", "length 8 needs 9 hints, not 8"},
      {"minesweeper:min_mines=0.3", "min_mines 0.3 is more than max_mines 0.25"},
      {"set_disjointness:elements=16", "short 4 and length 16 need 19 elements, not 16"},
      {"graph_reachability:vertices=11", "paths 2 and length 5 need 12 vertices, not 11"},
      {"path_star:nodes=8", "degree 2 and length 5 need 9 nodes, not 8"},
      {"last_x_retrieval:which=33", "which 33 needs as many items, not 32"},
      {"group_word:answer=identity", "answer=identity needs an even smallest length, not 1"},
      {"group_word:group=z60,symbols=generators", "symbols=generators is for s3, s4, s5 and a5"},
      {"listops:length=16", "depth 4 may hold only 15 operations, not 16"},
      {"random_automaton:symbols=13", "symbols 13 is more than vocabulary 12"},
      {"random_automaton:edges=1..6,symbols=6", "edges 6 needs as many symbols and one more state"},
      {"random_automaton:edges=2..3", "edges 2..3 leaves no state with a certain next symbol"},
      {"random_automaton:context=10", "context 10 needs a string of 11 symbols, not 10"},
      {"last_x_retrieval:length=8,distance=3..8", "distance 3..8 needs more than 8 items"},
  }));
  const std::string task = spec.substr(0, spec.find(':'));
  CHECK_THROWS_WITH(make(spec), Catch::Matchers::StartsWith("task '" + task + "': " + reason));
}
