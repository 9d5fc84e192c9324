// Conflicting options are refused with one line that states what to do.
#include <string>

#include "base/error.h"
#include "harness/check/double_precision/certificate.h"
#include "tests/catch.h"
#include "tests/encodings/refusal.h"

using namespace posbench;

namespace {

void make(const std::string& spec, bool causal = true) {
  ParameterLayout layout;
  make_encoding(Spec::parse(spec), small_config(2, causal, true), layout);
}

}  // namespace

TEST_CASE("DAPE accepts a bias by distance, a rotary encoding or none as its base") {
  for (const std::string base : {"cope", "tupe_a", "tupe_r"}) {  // the content of TUPE's scores has another scale
    CHECK_THROWS_WITH(
        make("dape:base=" + base),
        "encoding 'dape': base is '" + base +
            "', expected a bias by distance (alibi, kerple_log, fire, ...), a rotary encoding (rope, ...) "
            "or none");
  }
  CHECK_THROWS_WITH(
      make("dape:base=hard_alibi"),
      "encoding 'dape': base 'hard_alibi' hides keys, for which the network has no input; expected a bias "
      "that is a number for every key, as that of alibi");
  CHECK_THROWS_WITH(make("dape:base=rope,combine=add"),
                    "encoding 'dape': with base rope there is no bias; leave out combine and residual");
  CHECK_THROWS_WITH(make("dape_v2:base=none,residual=false"),
                    "encoding 'dape_v2': with base none there is no bias; leave out combine and residual");
  CHECK_THROWS_WITH(make("dape:base=none,combine=add"),
                    "encoding 'dape': with base none there is no bias; leave out combine and residual");
  CHECK_THROWS_AS(make("dape:base=unknown"), InputError);
  CHECK_NOTHROW(make("dape:base=fire", /*causal=*/false));
  CHECK_NOTHROW(make("dape:base=alibi", /*causal=*/false));
}

TEST_CASE("FoX refuses decay times for gates that depend on x, and a bias for gates that do not") {
  const std::string message =
      "encoding 'fox': bias is for gates that depend on x, shortest and longest are for data_independent=true";
  CHECK_THROWS_WITH(make("fox:data_independent=true,bias=3"), message);
  CHECK_THROWS_WITH(make("fox:longest=64"), message);
}

TEST_CASE("options that have no effect with the others are refused") {
  CHECK_THROWS_WITH(make("accumulated_rope:base=10"),
                    "encoding 'accumulated_rope': base is 10, but angle=linear does not use it; leave out base");
  CHECK_THROWS_WITH(make("rope_partial:width=4,fraction=0.9"),
                    "encoding 'rope_partial': fraction is 0.9, but width does not use it; leave out fraction");
  CHECK_THROWS_WITH(make("fope:learned=true,seed=5"),
                    "encoding 'fope': seed is 5, but learned=true does not use it; leave out seed");
  CHECK_THROWS_WITH(
      make("layers:of=(rope,none),fill=last"),
      "encoding 'layers': fill is last, but a pattern without every does not use it; leave out fill");
  CHECK_THROWS_WITH(
      make("layers:of=(rope,none),shorten=true"),
      "encoding 'layers': shorten is true, but a pattern without every does not use it; leave out shorten");
  CHECK_THROWS_WITH(make("deberta:clip=false"),
                    "encoding 'deberta': clip is false, but max_distance=0 does not use it; leave out clip");
  CHECK_THROWS_WITH(make("ssmax:length=3"),
                    "encoding 'ssmax': length is 3, but this factor does not use it; leave out length");
  CHECK_THROWS_WITH(make("ssmax:factor=log_ratio,length=1"),
                    "encoding 'ssmax': length is 1, whose logarithm is 0; expected 2 or more");
  for (const std::string option : {"alpha=7", "beta_fast=99", "beta_slow=99", "ramp=paper", "low_freq_factor=2",
                                   "high_freq_factor=9", "short_factor=2", "long_factor=3", "truncate=false"}) {
    const std::string name = option.substr(0, option.find('=')), value = option.substr(option.find('=') + 1);
    CHECK_THROWS_WITH(make("interpolated:" + option), "encoding 'interpolated': " + name + " is " + value +
                                                          ", but its method does not use it; leave out " + name);
  }
  CHECK_THROWS_WITH(
      make("interpolated:method=yarn,beta_slow=99"),
      "encoding 'interpolated': beta_slow is 99 and beta_fast is 32; expected beta_slow < beta_fast");
  CHECK_THROWS_WITH(make("interpolated:scale=0.5"),
                    "encoding 'interpolated': scale is 0.5, expected 1 or more, or 0 for the longest sequence");
}

TEST_CASE("options that make another encoding of one are refused") {
  CHECK(refusal("repo_pos:first_layer=2") ==
        "encoding 'repo_pos': first_layer is 2, expected up to 1, the last layer, so that one predicts positions");
  CHECK(refusal("repo_pos:first_layer=1").empty());
  CHECK(
      refusal("remapped:method=dual_chunk,window=9") ==
      "encoding 'remapped': window is 9, so that no chunk remains of 3 / 4 of the trained length, 12; expected a "
      "smaller window, or set chunk");
  CHECK(refusal("remapped:method=dual_chunk,window=8").empty());
  CHECK(refusal("remapped:method=string,window=3,shift=2") ==
        "encoding 'remapped': window is 3 and shift is 2, so that distances would grow; expected window <= shift");
  // Its factors would overflow at these positions.
  CHECK(refusal("random_float:base=xpos,range=1000000").find("too small for sequences of 1000000") !=
        std::string::npos);
  CHECK(refusal("layers:of=").find("of is '', expected two or more encodings") != std::string::npos);
}
