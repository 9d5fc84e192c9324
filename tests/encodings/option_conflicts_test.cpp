// Conflicting options are refused with one line that states what to do.
#include <string>

#include "base/error.h"
#include "harness/check/double_precision/certificate.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

void make(const std::string& spec, bool causal = true) {
  ParameterLayout layout;
  make_encoding(Spec::parse(spec), small_config(2, causal, true), layout);
}

}  // namespace

TEST_CASE("DAPE accepts a bias by distance, a rotary encoding or none as its base") {
  CHECK_THROWS_WITH(
      make("dape:base=cope"),
      "encoding 'dape': base is 'cope', expected a bias by distance (alibi, kerple_log, fire, ...), a rotary "
      "encoding (rope, ...) or none");
  // The content of their scores has another scale.
  CHECK_THROWS_WITH(
      make("dape:base=tupe_a"),
      "encoding 'dape': base is 'tupe_a', expected a bias by distance (alibi, kerple_log, fire, ...), a rotary "
      "encoding (rope, ...) or none");
  CHECK_THROWS_WITH(
      make("dape:base=tupe_r"),
      "encoding 'dape': base is 'tupe_r', expected a bias by distance (alibi, kerple_log, fire, ...), a rotary "
      "encoding (rope, ...) or none");
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
