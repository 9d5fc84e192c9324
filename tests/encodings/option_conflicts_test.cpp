// Conflicting options are refused with one line that states what to do.
#include <string>

#include "tests/catch.h"
#include "tests/encodings/refusal.h"

using namespace posbench;

TEST_CASE("conflicting options are refused with a message that says what to change") {
  const auto [spec, message] = GENERATE(table<std::string, std::string>({
      {"dape:base=cope",
       "encoding 'dape': base is 'cope', expected a bias by distance (alibi, kerple_log, fire, ...), a rotary "
       "encoding (rope, ...) or none"},
      {"dape:base=tupe_a",  // the content of its scores has another scale
       "encoding 'dape': base is 'tupe_a', expected a bias by distance (alibi, kerple_log, fire, ...), a rotary "
       "encoding (rope, ...) or none"},
      {"dape:base=hard_alibi",
       "encoding 'dape': base 'hard_alibi' hides keys, for which the network has no input; expected a bias "
       "that is a number for every key, as that of alibi"},
      {"dape:base=rope,combine=add",
       "encoding 'dape': with base rope there is no bias; leave out combine and residual"},
      {"dape_v2:base=none,residual=false",
       "encoding 'dape_v2': with base none there is no bias; leave out combine and residual"},
      {"fox:data_independent=true,bias=3",
       "encoding 'fox': bias is for gates that depend on x, shortest and longest are for data_independent=true"},
      {"fox:longest=64",
       "encoding 'fox': bias is for gates that depend on x, shortest and longest are for data_independent=true"},
      {"accumulated_rope:base=10",
       "encoding 'accumulated_rope': base is 10, but angle=linear does not use it; leave out base"},
      {"rope_partial:width=4,fraction=0.9",
       "encoding 'rope_partial': fraction is 0.9, but width does not use it; leave out fraction"},
      {"fope:learned=true,seed=5", "encoding 'fope': seed is 5, but learned=true does not use it; leave out seed"},
      {"layers:of=(rope,none),fill=last",
       "encoding 'layers': fill is last, but a pattern without every does not use it; leave out fill"},
      {"layers:of=(rope,none),shorten=true",
       "encoding 'layers': shorten is true, but a pattern without every does not use it; leave out shorten"},
      {"deberta:clip=false",
       "encoding 'deberta': clip is false, but max_distance=0 does not use it; leave out clip"},
      {"layers:of=", "encoding 'layers': of is '', expected two or more encodings, as in of=(rope,none)"},
      {"ssmax:length=3", "encoding 'ssmax': length is 3, but this factor does not use it; leave out length"},
      {"ssmax:factor=log_ratio,length=1",
       "encoding 'ssmax': length is 1, whose logarithm is 0; expected 2 or more"},
      {"interpolated:method=yarn,beta_slow=99",
       "encoding 'interpolated': beta_slow is 99 and beta_fast is 32; expected beta_slow < beta_fast"},
      {"interpolated:scale=0.5",
       "encoding 'interpolated': scale is 0.5, expected 1 or more, or 0 for the longest sequence"},
      {"repo_pos:first_layer=2",
       "encoding 'repo_pos': first_layer is 2, expected up to 1, the last layer, so that one predicts positions"},
      {"remapped:method=dual_chunk,window=9",
       "encoding 'remapped': window is 9, so that no chunk remains of 3 / 4 of the trained length, 12; expected a "
       "smaller window, or set chunk"},
      {"remapped:method=string,window=3,shift=2",
       "encoding 'remapped': window is 3 and shift is 2, so that distances would grow; expected window <= shift"},
      {"remapped:base=(rope:values=rotated)",
       "encoding 'remapped': base is 'rope:values=rotated', but distances here do not follow from positions, by which "
       "it rotates values; leave out values"},
      {"remapped:method=string,group=2",
       "encoding 'remapped': group is 2, but its method does not use it; leave out group"},
      {"interpolated:method=llama3,low_freq_factor=4",
       "encoding 'interpolated': low_freq_factor is 4 and high_freq_factor is 4; expected low_freq_factor < "
       "high_freq_factor"},
      {"hard_alibi:heads=3", "encoding 'hard_alibi': heads is 3, more than the heads of the model, 2"},
      {"wavelet:scales=3", "encoding 'wavelet': scales is 3, expected a divisor of the head width, 4"},
      {"grape_ap:width=3", "encoding 'grape_ap': width is 3, expected an even number"},
  }));
  CHECK(refusal(spec) == message);
}

TEST_CASE("options of a method that is not selected are refused") {
  for (const std::string option : {"alpha=7", "beta_fast=99", "beta_slow=99", "ramp=paper", "low_freq_factor=2",
                                   "high_freq_factor=9", "short_factor=2", "long_factor=3", "truncate=false"}) {
    const std::string name = option.substr(0, option.find('=')), value = option.substr(option.find('=') + 1);
    CHECK(refusal("interpolated:" + option) == "encoding 'interpolated': " + name + " is " + value +
                                                   ", but its method does not use it; leave out " + name);
  }
  for (const std::string factors : {"1/2/3", "1/0", "1/x", "-1"}) {
    CHECK(refusal("interpolated:method=longrope,long_factor=" + factors) ==
          "encoding 'interpolated': long_factor is '" + factors +
              "', expected a positive number, or 2 as in 1/1.2/3.5, one for each pair");
  }
  // Its factors would overflow at these positions.
  CHECK(refusal("random_float:base=xpos,range=1000000").find("too small for sequences of 1000000") !=
        std::string::npos);
}

TEST_CASE("options at the ends of what is allowed are accepted") {
  for (const char* spec : {"repo_pos:first_layer=1", "remapped:method=dual_chunk,window=8"})
    CHECK(refusal(spec).empty());
  for (const char* spec : {"dape:base=fire", "dape:base=alibi"})
    CHECK(refusal(spec, small_config(2, /*causal=*/false, true)).empty());
}
