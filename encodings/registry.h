// Encodings by name. An encoding's file registers it with one object at its end.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/registry.h"
#include "model/position_encoding.h"

namespace posbench {

/// Where an encoding enters, as the literature groups them.
enum class Family {
  unstated,
  absolute,
  rotary,
  relative_vectors,
  bias_by_distance,
  contextual,
  two_level,
  index_remap,
  attention_variant,
  wrapper
};
/// Positions beyond the trained length: in the trained range; defined, but out of it; or untrained parameters.
/// `as_base`: as the encoding that a wrapper wraps.
enum class Extrapolation { yes, defined, no, as_base };
/// Whether, or in which sense, scores depend on relative positions alone.
enum class Relative {
  yes,
  no,
  nearly,
  partly,
  accumulated,
  counted,
  order_of_keys,
  between_segments,
  between_learned_positions,
  between_predicted_positions,
  not_applicable,
  as_base
};
/// Whether equal tokens differ by their positions: all of them, some, none.
enum class Distinct { yes, partly, no, as_base };
/// Whether farther keys weigh less, whatever is learned.
enum class DistanceDecay { no, yes, as_base };
/// What a wrapper may replace the positions 0, 1, ... by: nothing, other positions, or distances alone.
enum class TakesPositions { no, positions, distances };

/// As `show`, `list` and docs/encodings.md print them.
std::string text(Family);
std::string text(Extrapolation);
std::string text(Relative);
std::string text(Distinct);
std::string text(DistanceDecay);

/// A capability, and words that qualify it for a reader.
template <class Capability>
struct Stated {
  Capability value;
  std::string qualifier;

  Stated(Capability value) : value(value) {}
  Stated(Capability value, std::string qualifier) : value(value), qualifier(std::move(qualifier)) {}
};
template <class Capability>
std::string text(const Stated<Capability>& stated) {
  return text(stated.value) + (stated.qualifier.empty() ? "" : ", " + stated.qualifier);
}

/// What an encoding is and can do: for readers, and for code that must know before it builds one.
struct EncodingInfo {
  std::string name;
  Family family = Family::unstated;
  std::string equation;                // what it computes, in a line or a few
  std::string source;                  // the paper, and the code where that was read
  std::string notes;                   // departures, uncertainties, what papers and code disagree about
  bool causal_only = false;            // defined for causal models only
  bool permutation_invariant = false;  // bidirectional models with it cannot tell orders of tokens apart
  std::string
      touches;  // letters: E input, R rotates q and k, B bias, Q query-dependent, L logits, V values, P index
  bool learned = false;  // has its own parameters
  TakesPositions takes_positions = TakesPositions::no;
  Stated<Extrapolation> extrapolates = Extrapolation::no;
  Stated<Relative> relative = Relative::no;
  std::string content_dependent;  // "no", or on what; for readers
  Stated<Distinct> distinct = Distinct::yes;
  Stated<DistanceDecay> distance_decay = DistanceDecay::no;
  int heads_multiple = 1;  // of these defaults and variants: models have a multiple of this many heads,
  int least_layers = 1;    // and at least this many layers
  std::vector<std::string> variants;  // options that take another path through the code, or wrap another encoding:
                                      // "clip=2"; they are certified with it
};

/// The stages of plain attention that an encoding replaces, itself or by what it wraps.
struct ReplacedStages {
  bool positions = false, embed = false, normalize = false, mix = false;

  ReplacedStages operator|(const ReplacedStages& other) const {
    return {positions || other.positions, embed || other.embed, normalize || other.normalize, mix || other.mix};
  }
};

struct EncodingEntry {
  EncodingInfo info;
  std::vector<OptionInfo> options;
  std::function<Spec(const Spec&)> canonical;
  std::function<std::optional<Spec>(const Spec&)> wrapped;  // the encoding that it wraps; none for most
  std::function<std::vector<Spec>(const Spec&)> members;    // the encodings that it is made of: the one, or several
  std::function<ReplacedStages(const Spec&)> replaces;
  std::function<std::unique_ptr<PositionEncoding>(const Spec&, const ModelShape&, ParameterLayout&)> make;
};

/// All encodings that are linked in.
Registry<EncodingEntry>& encodings();

/// Throws std::invalid_argument where the name or an option is unknown, or the encoding is not defined for this
/// shape.
std::unique_ptr<PositionEncoding> make_encoding(const Spec&, const ModelShape&, ParameterLayout&);

/// Throws std::logic_error, with a line that names the encoding, where its name, family, equation or source is
/// missing.
void check_info(const EncodingInfo&);

class Decorator;    // encodings/parts/decorator.h
class Composition;  // encodings/parts/composition.h

/// What a class does at a stage: nothing, what the encodings do that it is made of, or something of its own.
enum class StageOwner { plain, wrapped, own };
template <class Class, class Function>
constexpr StageOwner stage_owner(Function Class::*) {
  if (std::is_same_v<Class, PositionEncoding>) return StageOwner::plain;
  const bool passes_on = std::is_same_v<Class, Decorator> || std::is_base_of_v<Composition, Class>;
  return passes_on ? StageOwner::wrapped : StageOwner::own;
}

/// The stages that a class replaces, where it wraps an encoding that replaces these.
template <class E>
ReplacedStages replaced_stages(const ReplacedStages& base) {
  const auto replaced = [](StageOwner owner, bool by_base) {
    return owner == StageOwner::own || (owner == StageOwner::wrapped && by_base);
  };
  return {replaced(stage_owner(&E::positions), base.positions), replaced(stage_owner(&E::embed), base.embed),
          replaced(stage_owner(&E::normalize), base.normalize), replaced(stage_owner(&E::mix), base.mix)};
}

/// E is constructed from (const E::Options&, const ModelShape&, ParameterLayout&). The options of a wrapper have a
/// function `std::string wrapped() const`: the spec of the encoding that it wraps; those of a composition
/// `std::vector<Spec> members() const`.
template <class E>
struct RegisterEncoding {
  explicit RegisterEncoding(EncodingInfo info) {
    register_or_exit([&] {
      check_info(info);
      add(std::move(info));
    });
  }

 private:
  static std::vector<Spec> members(const Spec& spec) {
    const auto options = read_options<typename E::Options>(spec, "encoding");
    if constexpr (requires { options.members(); }) {
      return options.members();
    } else if constexpr (requires { options.wrapped(); }) {
      return {Spec::parse(options.wrapped())};
    } else {
      return {};
    }
  }

  static ReplacedStages replaces(const Spec& spec) {
    ReplacedStages of_members;
    for (const Spec& member : members(spec)) of_members = of_members | encodings().find(member.name).replaces(member);
    return replaced_stages<E>(of_members);
  }

  static void add(EncodingInfo info) {
    const std::string name = info.name;
    encodings().add(name, {std::move(info), option_infos<typename E::Options>(),
                           [](const Spec& spec) { return canonical<typename E::Options>(spec, "encoding"); },
                           [](const Spec& spec) -> std::optional<Spec> {
                             if constexpr (requires(const typename E::Options& o) { o.wrapped(); }) {
                               return Spec::parse(read_options<typename E::Options>(spec, "encoding").wrapped());
                             } else {
                               return std::nullopt;
                             }
                           },
                           members, replaces,
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
