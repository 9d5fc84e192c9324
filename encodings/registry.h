// Encodings by name. An encoding's file registers it with one object at its end.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/registry.h"
#include "model/position_encoding.h"

namespace posbench {

/// What `posbench show` and `posbench list encodings` print of an encoding, and what the suite must know before it
/// builds one. The words are those of the literature's taxonomy.
struct EncodingInfo {
  std::string name, family;
  std::string equation;      // what it computes, in a line or a few
  std::string source;        // the paper, and the code where that was read
  std::string notes;         // departures, uncertainties, what papers and code disagree about
  bool causal_only = false;  // defined for causal models only
  bool needs_order = false;  // bidirectionally it cannot tell orders apart, as the reference says
  std::string
      touches;  // letters: E input, R rotates q and k, B bias, Q query-dependent, L logits, V values, P index
  bool learned = false;               // has parameters of its own
  std::string extrapolates;           // beyond the trained length: "yes", "defined" but out of range, or "no"
  std::string relative;               // "yes", "no", or in which sense
  std::string content_dependent;      // "no", or on what
  std::string distinct = "yes";       // whether equal tokens differ by their places: "yes", "partly", "no"
  std::string fades = "no";           // "yes" where farther keys weigh less, whatever is learned
  std::vector<std::string> variants;  // options that take another path through the code, or wrap another encoding:
                                      // "clip=2"; they are certified with it
};

struct EncodingEntry {
  EncodingInfo info;
  std::vector<OptionInfo> options;
  std::function<Spec(const Spec&)> canonical;
  std::function<std::unique_ptr<PositionEncoding>(const Spec&, const ModelShape&, ParameterLayout&)> make;
};

/// All encodings that are linked in.
Registry<EncodingEntry>& encodings();

/// Throws std::invalid_argument where the name or an option is unknown, or the encoding is not defined for this
/// shape.
std::unique_ptr<PositionEncoding> make_encoding(const Spec&, const ModelShape&, ParameterLayout&);

/// E is constructed from (const E::Options&, const ModelShape&, ParameterLayout&).
template <class E>
struct RegisterEncoding {
  explicit RegisterEncoding(EncodingInfo info) {
    const std::string name = info.name;
    encodings().add(name, {std::move(info), option_infos<typename E::Options>(),
                           [](const Spec& spec) { return canonical<typename E::Options>(spec, "encoding"); },
                           [](const Spec& spec, const ModelShape& shape,
                              ParameterLayout& layout) -> std::unique_ptr<PositionEncoding> {
                             const auto options = read_options<typename E::Options>(spec, "encoding");
                             return std::make_unique<E>(options, shape, layout);
                           }});
  }
};

/// For encodings that have nothing to set.
struct NoOptions {
  void describe(OptionTable&) {}
};

}  // namespace posbench
