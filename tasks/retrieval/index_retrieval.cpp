// Finds the k-th item of a list from its start or its end, or the index of an item.
//
//   A k T w start 2 =   ->   k          query=item
//   A k T w end 2 =     ->   T
//   A k T w end k =     ->   3          query=index
//
// With from=both, the end to count from is uniform. So is the index, from 1 up to `farthest` or to the length of
// the list. The distance is the index. Counted from the start, an item has the same absolute position in a list of
// any length; counted from the end, it has the same position relative to the question.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tasks/parts/basic_task.h"
#include "tasks/parts/examples.h"
#include "tasks/registry.h"

namespace posbench::index_retrieval {
namespace {

const TaskInfo kInfo{
    .name = "index_retrieval",
    .family = "retrieval",
    .version = 2,
    .aspects = {Aspect::recall, Aspect::order},
    .definition =
        "The model reads a list of distinct letters, an end of it and an index, and answers the item with that "
        "index counted from there. With query=index it reads an item and answers its index.",
    .requirement =
        "The model has to count items from the start, which absolute positions give, or from the end, which "
        "distances give.",
    .source = "Zhang et al. 2026, arXiv:2605.07127",
    .published_name = "position-based retrieval (The Position Curse)",
    .published =
        "The paper prompts large models with lists of letters or words, counted forward or backward from an end "
        "or from another item, and fine-tunes some. It finds that counting from the end is far less accurate "
        "than from the start. Only the abstract of its text could be read. "
        "Here the default counts from the start; from=both draws the end, and takes longer to learn. "
        "Lengths, vocabulary and splits are ours, and indices are one token each. "
        "`indirect_indexing` is the form that counts from another item.",
    .length_unit = "items",
    .distance_unit = "items counted",
    .splits = {{"in_distribution", {}, "the trained lengths"},
               {"ood_length", {{"length", "1x..2x"}}, "longer lists, with the trained indices"}},
    .shortcuts = {.token = 0.16, .neighbor = 0.13, .count = 0.16},
};

constexpr int kItems = 52;
enum class Query { item, index };
enum class From { start, end, both };
struct Options {
  Integers length{4, 12};
  int farthest = 12;
  Query query = Query::item;
  From from = From::start;
  void describe(OptionTable& o) {
    o.integers("length", length, 1, kItems, "items");
    o.integer("farthest", farthest, 1, kItems, "largest index");
    o.choice("query", query, {"item", "index"}, "the answer of the model; the other one is given");
    o.choice("from", from, {"start", "end", "both"}, "the end at which counting starts");
  }
};

class IndexRetrieval final : public BasicTask<Options> {
 public:
  using BasicTask::BasicTask;
  int vocabulary() const override { return blank() + 1; }
  double chance_level() const override {
    return 1.0 / (options_.query == Query::item ? kItems : options_.farthest);
  }
  std::string token_text(int token) const override {
    if (token < kItems) return std::string(1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[token]);
    return token == start()   ? "start"
           : token == end()   ? "end"
           : token == blank() ? "="
                              : fmt::format("{}", token - kItems + 1);
  }

  Example sample(int length, Rng& rng) const override {
    std::vector<int> question = distinct_ids(rng, 0, kItems, length);
    const bool from_end = options_.from == From::both ? bernoulli(rng, 0.5) : options_.from == From::end;
    const int index = uniform(rng, 1, std::min(length, options_.farthest));
    const int item = question[from_end ? length - index : index - 1], number = kItems + index - 1;

    const bool asks_item = options_.query == Query::item;
    question.insert(question.end(), {from_end ? end() : start(), asks_item ? number : item});
    Example example = ask(layout_, std::move(question), blank(), {asks_item ? item : number});
    example.distances = {index};
    return example;
  }

 private:
  int start() const { return kItems + options_.farthest; }
  int end() const { return start() + 1; }
  int blank() const { return start() + 2; }
};

const RegisterTask<IndexRetrieval> registered{kInfo};

}  // namespace
}  // namespace posbench::index_retrieval
