// Parses specs. A spec names a task or an encoding with options: `cope`, `cope:positions=16,gates=values`,
// `randomized:base=(rope:theta=500000),max=2048`.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace posbench {

struct Spec {
  std::string name;
  std::vector<std::pair<std::string, std::string>> options;

  std::string text() const;
  /// Throws InputError if the text is not a spec.
  static Spec parse(std::string_view text);
};

/// Splits `cope:positions=16,gates=values,rope` into `cope:positions=16,gates=values` and `rope`: a piece
/// `key=value` belongs to the spec before it.
std::vector<std::string> split_specs(std::string_view text);

}  // namespace posbench
