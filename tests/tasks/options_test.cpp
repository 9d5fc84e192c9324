// Tests that options which contradict each other are refused.
#include <string>

#include "tasks/registry.h"
#include "tests/catch.h"
#include "tests/tasks/text_task.h"

using namespace posbench;

TEST_CASE("options that contradict each other are refused with a message that says what to change") {
  const auto [spec, message] = GENERATE(table<std::string, std::string>({
      {"mqar:length=64,pairs=17",
       "task 'mqar': pairs 17 needs a length of 68 at least, not 64; lower it or raise length"},
      {"mqar:length=63", "task 'mqar': length 63 is odd; keys and values need an even length"},
      {"mqar:vocabulary=8",
       "task 'mqar': pairs 4 needs more keys than the 3 of vocabulary 8; lower it or raise vocabulary"},
      {"count_word_last_sentence:words=2..3",
       "task 'count_word_last_sentence': largest 4 does not fit into a sentence of words 2..3; lower it or raise "
       "words"},
      {"ith_last_sentence:length=3..6",
       "task 'ith_last_sentence': farthest 4 needs more than 3 sentences; lower it or raise length"},
      {"induction_heads:farthest=1",
       "task 'induction_heads': farthest is 1, but the shortest distance is 2; 0 is any"},
      {"mad_fuzzy_in_context_recall:key=8",
       "task 'mad_fuzzy_in_context_recall': key 8 needs more ids than the 7 of vocabulary 15; shorten it or raise "
       "vocabulary"},
      {"mad_fuzzy_in_context_recall:value=9",
       "task 'mad_fuzzy_in_context_recall': value 9 needs more ids than the 8 of vocabulary 15; shorten it or "
       "raise vocabulary"},
      {"mad_fuzzy_in_context_recall:length=17",
       "task 'mad_fuzzy_in_context_recall': length 17 cannot hold 3 pairs of 6 tokens; raise it or shorten key or "
       "value"},
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
      {"forgetting_mqar:length=65",
       "task 'forgetting_mqar': length 65 is odd; keys and values need an even length"},
      {"forgetting_mqar:vocabulary=8",
       "task 'forgetting_mqar': pairs 4 needs more keys than the 3 of vocabulary 8; raise vocabulary"},
      {"mqrar:keys=33",
       "task 'mqrar': keys 33 is more than the 32 of vocabulary 64; lower it or raise vocabulary"},
      {"mqrar:keys=16,which=2",
       "task 'mqrar': keys 16 and which 2 need a length of 66 at least, not 64; raise length"},
      {"mqrar:length=63", "task 'mqrar': length 63 is odd; keys and values need an even length"},
      {"compositional_mqar:grid=4",
       "task 'compositional_mqar': grid 4 needs a length of 96 at least, not 54; lower it or raise length"},
      {"compositional_mqar:vocabulary=9",
       "task 'compositional_mqar': grid 2 needs more ids than vocabulary 9 has; lower it or raise vocabulary"},
      {"stacked_mqar:length=17",
       "task 'stacked_mqar': length 17 needs as many keys, not 16; raise keys or lower length"},
      {"needle:keys=17", "task 'needle': keys 17 need as many names, not 16; raise names or lower keys"},
      {"needle:queries=5", "task 'needle': queries 5 need as many keys, not 4; raise keys or lower queries"},
      {"ngram_lookup:length=5",
       "task 'ngram_lookup': key 3 and answer 3 need a length of 6 at least, not 5; raise length"},
      {"ngram_lookup:symbols=3",
       "task 'ngram_lookup': a key of 3 out of 3 tokens is rarely found once only in 24; raise key or symbols"},
      {"variable_tracking:chains=10",
       "task 'variable_tracking': 10 chains of 2 hops need more than the 26 variables; lower one"},
      {"common_words:length=70",
       "task 'common_words': length 70 and common 3 need 73 symbols, not 64; raise symbols"},
      {"frequent_words:length=50",
       "task 'frequent_words': at length 50 ranks 4 and 5 occur equally often, 1 times; choose another length"},
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
      {"random_automaton:symbols=13",
       "task 'random_automaton': symbols 13 is more than vocabulary 12; lower it or raise vocabulary"},
      {"random_automaton:edges=1..6,symbols=6",
       "task 'random_automaton': edges 6 needs as many symbols and one more state, but there are 6 symbols and 6 "
       "states; lower it or raise symbols or states"},
      {"random_automaton:edges=2..3",
       "task 'random_automaton': edges 2..3 leaves no state with a certain next symbol; let it begin with 1"},
      {"random_automaton:context=10",
       "task 'random_automaton': context 10 needs a string of 11 symbols, not 10; lower it or raise string"},
      {"last_x_retrieval:length=8,distance=3..8",
       "task 'last_x_retrieval': distance 3..8 needs more than 8 items; shorten it or lengthen length"},
  }));
  CHECK_THROWS_WITH(make(spec), message);
}
