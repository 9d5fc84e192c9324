// Reference checks of the encodings in encodings/absolute.
#include <cmath>
#include <string>
#include <vector>

#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Returns the sinusoids at each position of the section, computed by the encoding with these options.
EigenMatrix sinusoids(const Json& s, const std::string& options) {
  const std::vector<double> positions = numbers(s.at("positions"));
  Bench bench("sinusoidal:base=" + s.at("base").dump() + options, static_cast<int>(positions.size()), s.at("d"), 1,
              true);
  bench.sequence.positions.at.assign(positions.begin(), positions.end());
  bench.encoding->tables(bench.parameters, bench.sequence.positions, bench.tables);
  Matrix x(bench.x);
  bench.encoding->embed(bench.sequence, bench.parameters, bench.tables, x, bench.recurrent_state);
  return x;
}

double inner_product(const Json& s, int a, int b) {
  Json section = s;
  section["positions"] = {a, b};
  const EigenMatrix rows = sinusoids(section, "");
  return rows.row(0).dot(rows.row(1));
}

const RegisterChecks sinusoidal{
    "sinusoidal_d8",
    {{"d", "base", "positions"},
     {{"inv_freq",
       [](const Json& s) {  // The frequency is the angle at position 1.
         Json section = s;
         section["positions"] = {1};
         const EigenMatrix row = sinusoids(section, "");
         for (Index n = 0; n < 4; ++n) {
           check_close(std::atan2(row(0, 2 * n), row(0, 2 * n + 1)), s.at("inv_freq").at(static_cast<size_t>(n)));
         }
       }},
      {"interleaved", [](const Json& s) { check_close(sinusoids(s, ""), s.at("interleaved")); }},
      {"concatenated",
       [](const Json& s) { check_close(sinusoids(s, ",layout=concatenated"), s.at("concatenated")); }},
      {"tensor2tensor_denominator_concatenated",
       [](const Json& s) {
         check_close(sinusoids(s, ",layout=concatenated,spread=tensor2tensor"),
                     s.at("tensor2tensor_denominator_concatenated"));
       }},
      {"relative_identity_PE0_dot_PE3",
       [](const Json& s) { check_close(inner_product(s, 0, 3), s.at("relative_identity_PE0_dot_PE3")); }},
      {"relative_identity_PE5_dot_PE8",
       [](const Json& s) { check_close(inner_product(s, 5, 8), s.at("relative_identity_PE5_dot_PE8")); }}}}};

}  // namespace
}  // namespace posbench
