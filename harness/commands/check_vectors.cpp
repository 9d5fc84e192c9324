// `posbench check SPEC --against FILE`: the arrays of another program, compared with the reference vectors of an
// encoding.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "harness/commands/check_forms.h"
#include "harness/commands/vectors.h"
#include "harness/console/output.h"
#include "results/document/document.h"

namespace posbench {
namespace {

/// Returns the indices of a value, as in "head 0, query 3, key 1".
std::string place(const GoldenArray& reference, size_t at) {
  std::vector<std::string> parts(reference.shape.size());
  auto rest = static_cast<std::int64_t>(at);
  for (size_t axis = parts.size(); axis-- > 0; rest /= reference.shape[axis])
    parts[axis] = fmt::format("{} {}", reference.axes[axis], rest % reference.shape[axis]);
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Adds the row of one array. Returns true if no value differs by more than the tolerance.
bool compare(const CheckRequest& request, const GoldenArray& theirs, const GoldenArray& reference, Table& table) {
  const bool has_later_keys = request.vectors.request.causal && reference.axes.back() == "key";
  const auto keys = static_cast<size_t>(reference.shape.back());
  size_t first = 0, count = 0, compared = 0;
  double largest = 0;
  for (size_t n = 0; n < reference.values.size(); ++n) {
    if (has_later_keys && n % keys > n / keys % keys) continue;  // the key is after the query
    ++compared;
    const double a = theirs.values[n], b = reference.values[n];
    if (a == b) continue;  // also infinite
    const double difference = std::abs(a - b) / std::max(1.0, std::abs(b));
    if (!std::isnan(largest) && !(difference <= largest)) largest = difference;
    if (difference <= request.tolerance) continue;
    if (count++ == 0) first = n;
  }
  const bool is_same = count == 0;
  table.rows.push_back({reference.name,
                        {is_same ? "same" : "DIFFERENT", is_same ? Tone::good : Tone::bad},
                        fmt::format("{:.1e}", largest),
                        fmt::format("{} of {}", count, compared),
                        is_same ? "-"
                                : fmt::format("{}: theirs {:.9g}, reference {:.9g}", place(reference, first),
                                              theirs.values[first], reference.values[first])});
  return is_same;
}

/// Returns the arrays of the file with their references. Throws InputError if one has no counterpart of the same
/// shape.
std::vector<std::pair<const GoldenArray*, const GoldenArray*>> match(const CheckRequest& request,
                                                                     const Arrays& theirs,
                                                                     const Arrays& reference) {
  const std::string file = request.against->string();
  const bool are_selected = request.vectors.arrays.has_value();
  if (theirs.empty())
    throw InputError(fmt::format("{} has no arrays, expected some of {}", file, names_of(reference)));
  for (const GoldenArray& array : theirs) {
    if (are_selected || find_array(reference, array.name)) continue;
    throw InputError(fmt::format("{} has the array '{}', which {} does not have; select some of {} with --arrays",
                                 file, array.name, request.vectors.request.encoding, names_of(reference)));
  }
  std::vector<std::pair<const GoldenArray*, const GoldenArray*>> pairs;
  for (const GoldenArray& array : reference) {
    const GoldenArray* found = find_array(theirs, array.name);
    if (!found && !are_selected) continue;
    if (!found) throw InputError(fmt::format("{} has no array '{}', but {}", file, array.name, names_of(theirs)));
    if (found->shape != array.shape) {
      throw InputError(fmt::format("{}: '{}' has shape ({}), expected ({}) for {}", file, array.name,
                                   fmt::join(found->shape, ", "), fmt::join(array.shape, ", "),
                                   fmt::join(array.axes, ", ")));
    }
    pairs.emplace_back(found, &array);
  }
  return pairs;
}

}  // namespace

int check_vectors(CheckRequest request) {
  request.vectors.request.encoding = request.subjects.front();
  request.vectors.request.seed = request.seed.value_or(0);
  const Arrays reference = make_vectors(request.vectors), theirs = read_vectors(*request.against);
  Table table{{{"array"},
               {"verdict"},
               {"largest difference", Align::right},
               {"values that differ", Align::right},
               {"first difference"}},
              {}};
  bool same = true;
  for (const auto& [found, array] : match(request, theirs, reference))
    same = compare(request, *found, *array, table) && same;
  const Note note{fmt::format("Values differ by more than {:g}, relative to those above 1.", request.tolerance)};
  write_document(request.output, {.title = "", .blocks = {std::move(table), note}});
  return same ? 0 : 1;
}

}  // namespace posbench
