// What every encoding must satisfy, over the registry and a list of specs that set options.
#include <set>

#include "encodings/certificate.h"
#include "encodings/decorator.h"
#include "tests/catch.h"

using namespace posbench;

namespace {

constexpr double kMostError = 1e-6;

/// Every encoding with its defaults, and the options that take another path through its code.
std::vector<std::string> specs() {
  std::vector<std::string> specs{
      "abacus:rows=3",
      "alibi:learned=true",
      "alibi:sides=offset",
      "alibi:sides=offset,learned=true",
      "alibi:sides=split",
      "alibi:sides=split,learned=true",
      "bipe_alibi:rows=2,factor=3",
      "bipe_rope:rows=2,base=10",
      "cable:form=paper",
      "cable:form=paper,scaled=false",
      "cable:form=paper_unweighted",
      "cable:scaled=false",
      "cope:gates=separate",
      "cope:gates=separate,scaling=content,shared_table=true",
      "cope:gates=values",
      "cope:positions=3",
      "cope:scaling=content",
      "cope:scaling=none",
      "coupled:rows=3",
      "dape:base=(alibi:learned=true)",
      "dape:base=(alibi:learned=true),combine=add,residual=false",
      "dape:base=(alibi:learned=true),combine=multiply",
      "dape:base=(fire:activation=leaky_relu)",
      "dape:base=(kerple_log:per_layer=true),hidden=5",
      "dape:base=kerple_log",
      "dape:base=none",
      "dape:combine=add",
      "dape:combine=multiply",
      "dape:hidden=7,residual=false",
      "dape_v2:base=(alibi:learned=true),combine=add,residual=false",
      "dape_v2:base=(alibi:learned=true),combine=multiply",
      "dape_v2:base=(fire:activation=leaky_relu)",
      "dape_v2:base=(kerple_log:per_layer=true),hidden=5",
      "dape_v2:base=kerple_log",
      "dape_v2:base=none",
      "dape_v2:combine=add",
      "dape_v2:combine=multiply",
      "dape_v2:hidden=7,residual=false",
      "darope:length=1000",
      "darope:length=7,base=10",
      "deberta:norm=true,shared_projections=true",
      "deberta:size=2",
      "deberta:size=3,third=paper",
      "deberta:size=4,max_distance=6",
      "deberta:size=6,max_distance=16,norm=true,third=paper",
      "fire:activation=leaky_relu,hidden=5,threshold=512",
      "fire:shared_layers=true",
      "fox:bias=4",
      "fox:data_independent=true",
      "grape_a_keygated:query_gate=true",
      "grape_ctx:gate=softplus",
      "interpolated:base=(rope:pairing=half_split),method=yarn,scale=4,original=100",
      "interpolated:base=rope_hope,method=ntk,scale=4",
      "interpolated:base=rope_p,method=yarn,scale=4,ramp=paper,original=30",
      "interpolated:base=rope_partial,scale=4",
      "interpolated:base=xpos,scale=4",
      "interpolated:method=ntk,scale=4",
      "interpolated:method=ntk_dynamic,original=6,alpha=2",
      "kerple_log:per_layer=true",
      "kerple_power:per_layer=true",
      "learned_abs:positions=5",
      "mapformer_em:rank=3,range=9,deviation=1",
      "mapformer_wm:rank=3,range=9",
      "path:convolution=false,rank=3",
      "path_fox:convolution=false,bias=3",
      "pope:init=uniform,base=100",
      "randomized:base=(alibi:sides=offset),sampling=distances",
      "randomized:base=(dape:base=alibi)",
      "randomized:base=(dape:base=kerple_log),sampling=distances",
      "randomized:base=(interpolated:method=ntk_dynamic,original=6)",
      "randomized:base=alibi",
      "randomized:base=deberta",
      "randomized:base=deberta,sampling=distances",
      "randomized:base=fire",
      "randomized:base=kerple_log",
      "randomized:base=kerple_log,sampling=distances",
      "randomized:base=kerple_power,sampling=distances",
      "randomized:base=learned_abs,max=100",
      "randomized:base=pope",
      "randomized:base=rel_sin_bidir",
      "randomized:base=rel_sin_bidir,sampling=distances",
      "randomized:base=rope",
      "randomized:base=sandwich",
      "randomized:base=sandwich,sampling=distances",
      "randomized:base=shaw_k",
      "randomized:base=shaw_k,sampling=distances",
      "randomized:base=shaw_kv",
      "randomized:base=shaw_kv,sampling=distances",
      "randomized:base=sinusoidal,max=50",
      "randomized:base=t5_bias,sampling=distances",
      "randomized:base=tupe_a,max=100",
      "randomized:base=tupe_r,max=100",
      "randomized:base=txl",
      "randomized:base=txl,sampling=distances",
      "randomized:base=xlnet",
      "randomized:base=xlnet,sampling=distances",
      "randomized:base=xpos",
      "rel_sin_bidir:argument=query_minus_key,clamp=4",
      "rel_sin_bidir:layout=interleaved,start=xavier,learned_scale=true",
      "repo_pos:blend=0.3",
      "repo_pos:first_layer=1",
      "rope:pairing=half_split",
      "rope_hope:base=4,length=20",
      "rope_hope:length=3",
      "rope_p:fraction=0",
      "rope_p:fraction=1,pairing=half_split",
      "rope_partial:pairing=half_split",
      "rope_partial:width=4",
      "sandwich:width=8,first=1",
      "selective_rope:convolution=false",
      "selective_rope:convolution=false,gate=true,bias=true",
      "selective_rope:gate=true,bias=true,rank=3,theta=10",
      "shaw_k:clip=0,shared_table=true",
      "shaw_k:clip=2",
      "shaw_kv:clip=0,shared_table=true",
      "shaw_kv:clip=2",
      "sinusoidal:layout=concatenated,spread=tensor2tensor,scale=3",
      "stick_breaking:include_self=true",
      "stick_breaking:include_self=true,remainder=true",
      "stick_breaking:remainder=true",
      "t5_bias:buckets=8,max_distance=16",
      "tape:hidden=3,base=100",
      "tupe_a:positions=5",
      "tupe_a:reset=always",
      "tupe_a:reset=never",
      "tupe_r:buckets=8,max_distance=16,reset=never",
      "tupe_r:reset=always",
      "txl:clamp=4",
      "txl:untied=true",
      "xlnet:clamp=4,untied=false",
      "xlnet:segments=false",
      "xpos:scale_base=8,gamma=0.1",
  };
  for (const std::string& name : encodings().names()) specs.push_back(name);
  return specs;
}

/// Whether it and what it wraps are.
bool defined(const Spec& spec, bool causal) {
  if (const std::optional<Spec> base = wrapped(spec); base && !defined(*base, causal)) return false;
  return causal || !encodings().find(spec.name).info.causal_only;
}

}  // namespace

TEST_CASE("every backward agrees with finite differences") {
  for (const std::string& text : specs()) {
    const Spec spec = Spec::parse(text);
    for (const bool causal : {true, false}) {
      if (!defined(spec, causal)) continue;
      DYNAMIC_SECTION(text << (causal ? ", causal" : ", bidirectional")) {
        for (const auto& [heads, length, pre_norm] : std::vector<std::tuple<int, int, bool>>{
                 {1, 1, true}, {1, 6, false}, {2, 13, false}, {3, 7, true}, {4, 20, true}}) {
          const Worst worst = gradient_error(spec, small_shape(heads, causal, pre_norm), length);
          INFO(worst.where << ", heads " << heads << ", length " << length << (pre_norm ? ", pre" : ", post"));
          CHECK(worst.error <= kMostError);
        }
      }
    }
  }
}

TEST_CASE("no output of a causal model depends on later tokens, to the bit") {
  for (const std::string& text : specs()) {
    DYNAMIC_SECTION(text) { CHECK(is_causal(Spec::parse(text), small_shape(4, true, true), 20)); }
  }
}

TEST_CASE("outputs and gradients are finite at length 1 and at four times the trained length") {
  for (const std::string& text : specs()) {
    const Spec spec = Spec::parse(text);
    for (const bool causal : {true, false}) {
      if (!defined(spec, causal)) continue;
      DYNAMIC_SECTION(text << (causal ? ", causal" : ", bidirectional")) {
        const ModelShape shape = small_shape(2, causal, true);
        CHECK(is_finite(spec, shape, 1));
        CHECK(is_finite(spec, shape, 4 * shape.trained_length));
      }
    }
  }
}

TEST_CASE("one layer tells the order of earlier tokens apart, but for the encodings that say otherwise") {
  for (const std::string& name : encodings().names()) {
    DYNAMIC_SECTION(name) {
      const double moved = order_sensitivity(Spec{name, {}}, small_shape(4, true, true), 9);
      if (encodings().find(name).info.needs_order) {
        CHECK(moved < 1e-12);
      } else {
        CHECK(moved > 1e-6);
      }
    }
  }
}

TEST_CASE("a shift of all places moves the outputs of no relative encoding, and of every absolute one") {
  const std::set<std::string> relative{"yes", "accumulated", "counted", "order of keys"};
  for (const std::string& name : encodings().names()) {
    const EncodingInfo& info = encodings().find(name).info;
    DYNAMIC_SECTION(name << ", relative: " << info.relative) {
      const double moved = shift_sensitivity(Spec{name, {}}, small_shape(4, true, true), 9);
      if (relative.count(info.relative) > 0) CHECK(moved < 1e-9);
      if (info.family == "absolute" && !info.needs_order) CHECK(moved > 1e-6);
    }
  }
}
