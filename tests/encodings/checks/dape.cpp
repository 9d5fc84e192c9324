#include <fstream>

#include "tests/encodings/checks/checks.h"

namespace posbench {
namespace {

/// Two heads of three tokens, whose scaled products are the logits of section `dape`.
Bench dape(const Json& logits, const std::string& spec) {
  Bench bench(spec + ":hidden=2", 3, 8, 2, true);
  for (size_t h = 0; h < 2; ++h) {
    bench.q[h].leftCols(3) = 2 * matrix(logits.at(h));
    bench.k[h].setIdentity();
  }
  return bench;
}

void check_scores(Bench& bench, const Json& expected) {
  const Heads& scores = bench.score();
  for (size_t h = 0; h < 2; ++h) check_close(scores[h], expected.at(h));
}

const RegisterChecks dape_checks{"dape",
                                 {{"scaled_logits_A", "mlp", "activation"},
                                  {{"alibi_bias_B",
                                    [](const Json& s) {
                                      Bench bench("alibi", 3, 8, 2, true);
                                      check_scores(bench, s.at("alibi_bias_B"));
                                    }},
                                   {"out", [](const Json& s) {
                                      Bench bench = dape(s.at("scaled_logits_A"), "dape");
                                      const Json& network = s.at("mlp");
                                      bench.learned("dape.0.in.weight") = matrix(network.at("W1_2x2H"));
                                      bench.learned("dape.0.in.bias") = matrix(network.at("b1"));
                                      bench.learned("dape.0.out.weight") = matrix(network.at("W2_Hx2"));
                                      bench.learned("dape.0.out.bias") = matrix(network.at("b2"));
                                      check_scores(bench, s.at("out"));
                                    }}}}};

/// A kernel (outputs, inputs, 3) as the encoding keeps it: w[output][input][tap] goes to weight(row, column).
template <class Entry>
void set_kernel(const Json& kernel, Entry entry) {
  for (size_t o = 0; o < kernel.size(); ++o) {
    for (size_t i = 0; i < kernel[o].size(); ++i) {
      for (size_t tap = 0; tap < 3; ++tap) {
        entry(static_cast<Index>(o), static_cast<Index>(i), static_cast<Index>(tap)) =
            kernel[o][i][tap].get<double>();
      }
    }
  }
}

const RegisterChecks dape_v2_checks{
    "dape_v2",
    {{"kernels", "note"},
     {{"out", [](const Json& s) {
         const Json all =
             Json::parse(std::ifstream(POSBENCH_SOURCE_DIR "/tests/encodings/checks/encoding_checks.json"));
         Bench bench = dape(all.at("dape").at("scaled_logits_A"), "dape_v2");
         const Json& kernels = s.at("kernels");
         auto in = bench.learned("dape_v2.0.in.weight"), out = bench.learned("dape_v2.0.out.weight");
         set_kernel(kernels.at("K1_w_in_3"),
                    [&](Index o, Index i, Index tap) -> Real& { return in(o, tap * 4 + i); });
         set_kernel(kernels.at("K2_H_w_3"),
                    [&](Index o, Index i, Index tap) -> Real& { return out(tap * 2 + o, i); });
         bench.learned("dape_v2.0.in.bias") = matrix(kernels.at("b1"));
         bench.learned("dape_v2.0.out.bias") = matrix(kernels.at("b2"));
         check_scores(bench, s.at("out"));
       }}}}};

}  // namespace
}  // namespace posbench
