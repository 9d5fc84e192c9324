// Lays out the question and the answer of an example, splits words into pieces, and draws ids and numbers.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/options.h"
#include "base/random.h"
#include "tasks/task.h"

namespace posbench {

/// Lays out the question, one `blank`, then the answer: teacher forced, one position late, or as further blanks.
/// In both layouts, the target of answer token n is n positions after the first blank. All targets are scored, or
/// only the first `scored`. The question is segment 0, the answer segment 1.
Example ask(Layout, std::vector<int> question, int blank, const std::vector<int>& answer, int scored = -1);

/// Does the same as ask() for an answer that ends with a terminator, its last token. With teacher forcing the
/// sequence stops at the terminator, as a decoder would. The number of slots is always `slots`; slots after the
/// terminator have the target `padding`, which is not scored.
Example ask_terminated(Layout, std::vector<int> question, int blank, std::vector<int> answer, int slots,
                       int padding = 0);

/// The targets in training of a sequence with target positions inside it.
enum class Loss {
  clean,  // at scored positions only
  noisy,  // every next token; most of them are unpredictable
};

/// Describes the option `loss`. `learnable`: the targets that can be known.
void describe_loss(OptionTable&, Loss&, const std::string& learnable);

/// Lays out a sequence with target positions inside it: the model reads all tokens but the last, and the target of
/// a position is the next token. Only `scored` positions are scored. All tokens are in segment 0.
Example predict_next(std::vector<int> sequence, std::vector<int> scored, Loss);

/// Sets the segments: those of the question, then `last` for all tokens that remain.
void set_segments(Example&, std::vector<int> question, int last);

/// Returns a value for each token of an example that ask() laid out. `question` has those of the question, and
/// `blank_and_answer` those of the first blank and of the answer. In slots, the slot of an answer token has the
/// value of this token. The slots that remain have the value `unused`.
std::vector<int> values_of_tokens(Layout, std::vector<int> question, const std::vector<int>& blank_and_answer,
                                  const Example&, int unused = 0);

/// Sets the evidence, and as distances the numbers of tokens from each scored position back to its evidence.
void set_evidence(Example&, std::vector<int> evidence);

/// Returns for each token how many of the tokens before it are `delimiter`: a delimiter belongs to the segment
/// that it ends.
std::vector<int> segments_ended_by(int delimiter, std::span<const int> tokens);

/// Splits words into pieces: each word is followed by the tokens first_piece, first_piece + 1, ... until it has
/// its number of pieces. The ids of words take the numbers in turn, so a word always has the same pieces. The word
/// `whole` has one piece.
std::vector<int> in_pieces(std::span<const int> words, const Integers& pieces, int first_piece, int whole = -1);

/// Draws one of several numbers. A single number takes nothing from the generator.
int draw_if_several(const Integers&, Rng&);

/// Draws an index below `count` with a probability proportional to weight(index). At least one weight is positive.
template <class Weight>
int draw_by_weight(Rng& rng, int count, Weight weight) {
  double sum = 0;
  for (int n = 0; n < count; ++n) sum += weight(n);
  double at = sum * uniform_real(rng);
  int drawn = -1;
  for (int n = 0; n < count; ++n) {
    if (weight(n) <= 0) continue;
    drawn = n;
    if (at < weight(n)) break;
    at -= weight(n);
  }
  return drawn;
}

/// Draws `count` distinct ids, uniform over first .. first + size - 1, in random order.
std::vector<int> distinct_ids(Rng&, int first, int size, int count);

}  // namespace posbench
