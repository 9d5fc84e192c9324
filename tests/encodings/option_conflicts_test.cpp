// Conflicting options are refused with one line that states what to do.
#include <string>

#include "tests/catch.h"
#include "tests/encodings/refusal.h"

using namespace posbench;

TEST_CASE("conflicting options are refused with the name of the encoding and the conflict") {
  const auto [spec, reason] = GENERATE(table<std::string, std::string>({
      {"dape:base=cope", "base is 'cope', expected a bias by distance (alibi, kerple_log, fire, ...)"},
      // the content of its scores has another scale
      {"dape:base=tupe_a", "base is 'tupe_a', expected a bias by distance (alibi, kerple_log, fire, ...)"},
      {"dape:base=hard_alibi", "base 'hard_alibi' hides keys, for which the network has no input"},
      {"dape:base=rope,combine=add", "with base rope there is no bias"},
      {"dape_v2:base=none,residual=false", "with base none there is no bias"},
      {"fox:data_independent=true,bias=3", "bias is for gates that depend on x"},
      {"fox:longest=64", "bias is for gates that depend on x, shortest and longest are for data_independent=true"},
      {"accumulated_rope:base=10", "base is 10, but angle=linear does not use it"},
      {"rope_partial:width=4,fraction=0.9", "fraction is 0.9, but width does not use it"},
      {"fope:learned=true,seed=5", "seed is 5, but learned=true does not use it"},
      {"layers:of=(rope,none),fill=last", "fill is last, but a pattern without every does not use it"},
      {"layers:of=(rope,none),shorten=true", "shorten is true, but a pattern without every does not use it"},
      {"deberta:clip=false", "clip is false, but max_distance=0 does not use it"},
      {"layers:of=", "of is '', expected two or more encodings, as in of=(rope,none)"},
      {"ssmax:length=3", "length is 3, but this factor does not use it"},
      {"ssmax:factor=log_ratio,length=1", "length is 1, whose logarithm is 0"},
      {"interpolated:method=yarn,beta_slow=99", "beta_slow is 99 and beta_fast is 32"},
      {"interpolated:scale=0.5", "scale is 0.5, expected 1 or more, or 0 for the longest sequence"},
      {"repo_pos:first_layer=2", "first_layer is 2, expected up to 1, the last layer"},
      {"remapped:method=dual_chunk,window=9", "window is 9, so that no chunk remains of 3 / 4 of the trained"},
      {"remapped:method=string,window=3,shift=2", "window is 3 and shift is 2, so that distances would grow"},
      {"remapped:base=(rope:values=rotated)", "base is 'rope:values=rotated', but distances here do not"},
      {"remapped:method=string,group=2", "group is 2, but its method does not use it"},
      {"interpolated:method=llama3,low_freq_factor=4", "low_freq_factor is 4 and high_freq_factor is 4"},
      {"hard_alibi:heads=3", "heads is 3, more than the heads of the model, 2"},
      {"wavelet:scales=3", "scales is 3, expected a divisor of the head width, 4"},
      {"grape_ap:width=3", "width is 3, expected an even number"},
      {"rope_hope:taper=2,length=9", "leave out one of them"},
      {"remapped:base=cope", "base is 'cope', expected one of the rotary"},
      {"interpolated:base=alibi",
       "expected one of the rotary ones: resonance_rope, rope, rope_hope, rope_p, rope_partial, xpos"},
      {"interpolated:base=none", "base is 'none', expected one of the rotary"},
      {"interpolated:base=pope", "base is 'pope', expected one of the rotary"},
      {"interpolated:base=cope", "base is 'cope', expected one of the rotary"},
      {"interpolated:base=interpolated", "base is 'interpolated', expected one of the rotary"},
      {"interpolated:base=rope_partial,method=ntk", "needs two or more"},
      {"interpolated:resonance=true", "leave out resonance, or take another method"},
      {"interpolated:method=longrope,short_factor=", "short_factor is ''"},
      {"interpolated:method=longrope,scale=4,original=1", "set original to 2 or more"},
      {"sink_logit:base=stick_breaking", "base is 'stick_breaking', which replaces the softmax"},
      {"sum:of=cope", "of is 'cope', expected two or more encodings, as in of=(cope,shaw_k)"},
      {"sum:of=(stick_breaking,entmax)", "'stick_breaking' and 'entmax' both replace the normalization"},
      {"sum:of=(shaw_kv,(rope:values=rotated))",
       "'shaw_kv' and 'rope:values=rotated' both replace the mixing of values"},
      {"sum:of=(shaw_kv,(sum:of=(rope,stick_breaking)))",
       "'shaw_kv' and 'sum:of=(rope,stick_breaking)' both replace the mixing of values"},
      {"layers:of=(learned_abs,none)", "'learned_abs' enters at the embeddings, which all layers read"},
      {"heads:of=(rope,tape)", "enters at the embeddings, which all heads read"},
      {"heads:of=((deberta:shared_projections=true),none)", "reads the projections of all layers and heads"},
      {"heads:of=(rope,none,alibi)", "the 2 heads of the model do not divide into 3 equal groups"},
      {"layers:of=(rope,none),every=4", "the pattern 'rope,none' has 4 layers, and the model 2 with attention"},
      {"layers:of=(rope,none),every=1", "every is 1, less than the 2 encodings 'rope,none'"},
      {"layers:of=(rope,none),window=(8,0,4)", "window has the 3 values '8,0,4', expected one, or one for each"},
      {"layers:of=(rope,none),window=(8,0),sinks=(1,3)", "sinks is '1,3', but the queries of 'none' see all keys"},
      {"layers:of=(rope,none),sinks=2", "sinks is '2', but every query sees all keys"},
      {"local:window=-1", "window is '-1', expected a number of tokens, or a part of the trained length"},
      {"local:window=0x", "window is '0x', expected"},
      {"local:window=2.5", "window is '2.5', expected"},
      {"local:window=0,sinks=2", "all keys are seen"},
  }));
  const std::string encoding = spec.substr(0, spec.find(':'));
  CHECK_THAT(refusal(spec),
             Catch::Matchers::StartsWith("encoding '" + encoding + "': ") && ContainsSubstring(reason));
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
  for (const char* spec :
       {"repo_pos:first_layer=1", "remapped:method=dual_chunk,window=8", "sum:of=(shaw_kv,rope)",
        "heads:of=(deberta,none)", "layers:of=(rope,none),sinks=1,window=(3,0)",
        "layers:of=(rope,none),window=(8,0),chunk=(0,4),sinks=(1,3)"})
    CHECK(refusal(spec).empty());
  for (const char* spec : {"dape:base=fire", "dape:base=alibi"})
    CHECK(refusal(spec, small_config(2, /*causal=*/false, true)).empty());
}

TEST_CASE(
    "a wrapper or composition refuses unknown members, and bidirectional models where a member is causal only") {
  for (const char* spec : {"interpolated:base=rop", "sum:of=(cope,rop)"})
    CHECK_THAT(refusal(spec), ContainsSubstring("did you mean 'rope'?"));
  CHECK_THAT(refusal("layers:logit_scale=(constant,log)"), ContainsSubstring("expected"));
  for (const char* spec : {"interpolated:base=xpos", "sum:of=(cope,rope)"})
    CHECK_THAT(refusal(spec, small_config(2, /*causal=*/false, true)), ContainsSubstring("causal models only"));
}
