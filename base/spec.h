// Parses specs. A spec names a task or an encoding with options: `cope`, `rope:base=500,axial=true`,
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

/// Splits `rope:base=500,axial=true,rope` into `rope:base=500,axial=true` and `rope`: a piece
/// `key=value` belongs to the spec before it.
std::vector<std::string> split_specs(std::string_view text);

}  // namespace posbench
