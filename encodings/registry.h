// Registers encodings by name. The file of an encoding has one RegisterEncoding object at its end.
#pragma once
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/registry.h"
#include "encodings/aliases.h"
#include "model/position_encoding.h"

namespace posbench::inline POSBENCH_REAL {

/// Groups encodings as the literature does.
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
  wrapper,
  preset
};
/// States how positions beyond the trained length are handled. Here and below, `as_base` means: the same as the
/// wrapped encoding.
enum class Extrapolation {
  yes,      // they stay in the trained range
  defined,  // they are defined, but leave the trained range
  no,       // they read untrained parameters
  as_base
};
/// States what scores depend on besides the content of tokens.
enum class Relative {
  yes,                          // distances alone
  no,                           // positions
  nearly,                       // distances, and positions a little
  partly,                       // distances and positions
  accumulated,                  // sums of steps between query and key
  counted,                      // counts of tokens between query and key
  order_of_keys,                // the order of the keys alone
  between_segments,             // distances between segments, and positions inside of one
  between_learned_positions,    // differences of learned positions
  between_predicted_positions,  // differences of positions that the model predicts
  not_applicable,
  as_base
};
/// States how many equal tokens differ by their positions: all, some or none.
enum class Distinct { yes, partly, no, as_base };
/// States if farther keys weigh less for all values of the parameters.
enum class DistanceDecay { no, yes, as_base };
/// States what a wrapper may give an encoding instead of the positions 0, 1, ...
enum class TakesPositions {
  no,               // nothing
  whole_positions,  // other whole numbers, because there is one row of a table for each
  positions,        // other real numbers
  distances         // other real numbers, or distances alone
};

/// States which programs can compute attention with an encoding, from the most to the fewest.
enum class Kernel {
  any,             // plain attention: the encoding changes the input, queries, keys or values, each on its own
  bias,            // kernels that add a bias to scores: it depends on the distance, or on its sign, and the head
  score_modifier,  // kernels that change a score by values known before the attention, as FlexAttention
  own              // a kernel of its own: other scores decide about a score, or a weight is no softmax
};

/// Return the texts that `show`, `list` and docs/encodings.md print.
const EnumNames<Kernel>& names_of(Kernel);
const EnumNames<Family>& names_of(Family);
const EnumNames<Extrapolation>& names_of(Extrapolation);
const EnumNames<Relative>& names_of(Relative);
const EnumNames<Distinct>& names_of(Distinct);
const EnumNames<DistanceDecay>& names_of(DistanceDecay);

/// A capability with a text that qualifies it for readers.
template <class Capability>
struct Qualified {
  Capability value;
  std::string qualifier;

  Qualified(Capability value) : value(value) {}
  Qualified(Capability value, std::string qualifier) : value(value), qualifier(std::move(qualifier)) {}
};
template <class Capability>
std::string to_string(const Qualified<Capability>& stated) {
  return to_string(stated.value) + (stated.qualifier.empty() ? "" : ", " + stated.qualifier);
}

/// Describes an encoding for readers, and for code that must know its capabilities before it builds one.
/// The members have fixed types, so an unknown field is a compile error. check_info refuses missing fields.
struct EncodingInfo {
  std::string name;
  Family family = Family::unstated;
  std::string equation;                // the exact computation, in a few lines separated by \n
  std::string source;                  // the paper, and the code if it was read
  std::vector<std::string> used_in;    // well-known models that use it
  std::string notes;                   // departures, uncertainties, differences between papers and code
  bool causal_only = false;            // defined for causal models only
  bool permutation_invariant = false;  // bidirectional models cannot distinguish orders of tokens
  bool learned = false;                // has its own parameters
  bool without_attention = false;      // also defined for models whose blocks have no attention
  TakesPositions takes_positions = TakesPositions::no;
  Qualified<Extrapolation> extrapolates = Extrapolation::no;
  Qualified<Relative> relative = Relative::no;
  std::string content_dependent;  // for readers: "no", or the content that the scores depend on
  Qualified<Distinct> distinct = Distinct::yes;
  Qualified<DistanceDecay> distance_decay = DistanceDecay::no;
  /// Needed if the class decides neither (own_kernel): it has its own scores, or its own weighted sum of values
  /// that plain attention can compute.
  std::optional<Kernel> kernel = std::nullopt;
  /// The values of each token that later tokens read, besides its keys and values. Empty: none.
  std::string cached = "";
  int heads_multiple_of = 1;  // the number of heads must be a multiple of this number
  int min_layers = 1;         // the number of layers must be at least this number
  /// Options that use another path through the code or wrap another encoding, such as "clip=2". All checks of the
  /// encoding also run with them.
  std::vector<std::string> variants;
};

/// The stages of plain attention that an encoding, or one that it wraps, replaces.
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
  bool is_rotary = false;                                   // its class derives from Rotary
  std::function<std::optional<Spec>(const Spec&)> wrapped;  // the encoding that it wraps; most wrap none
  std::function<std::vector<Spec>(const Spec&)> members;    // the wrapped encoding, or those of a composition
  std::function<ReplacedStages(const Spec&)> replaces;
  Kernel own_kernel = Kernel::any;  // without that of the encodings that it wraps
  /// Returns the encoding of a layer in a model with `layers` layers. Empty if all layers have the encoding
  /// itself.
  std::function<Spec(const Spec&, int layer, int layers)> of_layer;
  /// Returns true if the encoding, or one that it wraps, has an option that replaces the given positions: by
  /// random ones, or by the coordinates that the task states.
  std::function<bool(const Spec&)> chooses_positions;
  std::function<std::unique_ptr<PositionEncoding>(const Spec&, const ModelConfig&, ParameterLayout&)> make;
};

/// The registry of encodings and presets. `find` and `contains` know both.
class EncodingRegistry : public Registry<EncodingEntry> {
 public:
  EncodingRegistry() : Registry("encoding", unique_aliases) {}

  /// Returns the names of the encodings, without presets.
  std::vector<std::string> names() const;
  std::vector<std::string> names_with_presets() const { return Registry::names(); }
};

/// Returns the registry of all linked encodings.
EncodingRegistry& encodings();

/// Returns the encoding that a spec wraps, if it wraps one.
std::optional<Spec> wrapped(const Spec&);

/// Returns the kernel that the encoding and all that it wraps need.
Kernel kernel_of(const Spec&);
/// Returns EncodingInfo::cached of the encoding and all that it wraps, as "a; b"; "-" if there is none.
std::string cached_values(const Spec&);

/// Returns the encoding inside of all nested wrappers, which reads the positions.
Spec innermost(Spec);

/// Returns true if the encoding and all that it wraps are defined for causal, or for bidirectional, models.
bool is_defined(const Spec&, bool causal);

/// Throws InputError if the name or an option is unknown, or the encoding is not defined for this model.
std::unique_ptr<PositionEncoding> make_encoding(const Spec&, const ModelConfig&, ParameterLayout&);

/// Throws std::logic_error with the name of the encoding if its name, family, equation or source is missing.
void check_info(const EncodingInfo&);

class Decorator;         // encodings/parts/decorator.h
class Composition;       // encodings/parts/composition.h
class Rotary;            // encodings/parts/rotary.h
class ContextualRotary;  // encodings/parts/contextual_rotary.h
class DistanceBias;      // encodings/parts/distance_bias.h

/// States which class implements a stage: PositionEncoding, the wrapped encodings, or the class itself.
enum class StageOwner { plain, wrapped, own };
template <class Class, class Function>
constexpr StageOwner stage_owner(Function Class::*) {
  if (std::is_same_v<Class, PositionEncoding>) return StageOwner::plain;
  const bool passes_on = std::is_same_v<Class, Decorator> || std::is_base_of_v<Composition, Class>;
  return passes_on ? StageOwner::wrapped : StageOwner::own;
}

/// Returns the stages that class E replaces if the encodings that it wraps replace those of `base`.
template <class E>
ReplacedStages replaced_stages(const ReplacedStages& base) {
  const auto replaced = [](StageOwner owner, bool by_base) {
    return owner == StageOwner::own || (owner == StageOwner::wrapped && by_base);
  };
  return {replaced(stage_owner(&E::positions), base.positions), replaced(stage_owner(&E::embed), base.embed),
          replaced(stage_owner(&E::normalize), base.normalize), replaced(stage_owner(&E::mix), base.mix)};
}

/// Returns the kernel that class E needs, apart from the encodings that it wraps. Its registration may state it.
template <class E>
Kernel own_kernel(const EncodingInfo& info) {
  if (info.kernel) return *info.kernel;
  const auto is_own = [](StageOwner owner) { return owner == StageOwner::own; };
  if (is_own(stage_owner(&E::normalize)) || is_own(stage_owner(&E::carry))) return Kernel::own;
  if (std::is_base_of_v<Rotary, E> || std::is_base_of_v<ContextualRotary, E>) return Kernel::any;
  if (is_own(stage_owner(&E::mix))) return Kernel::own;
  if (!is_own(stage_owner(&E::score))) return Kernel::any;
  return std::is_base_of_v<DistanceBias, E> ? Kernel::bias : Kernel::own;
}

/// Returns true if T is in an unnamed namespace. The compiler names it in this function's name.
template <class T>
consteval bool is_in_unnamed_namespace() {
  return std::string_view(__PRETTY_FUNCTION__).find("anonymous") != std::string_view::npos;
}

/// Registers E, which is constructed from (const E::Options&, const ModelConfig&, ParameterLayout&). E::Options
/// may have these functions:
///   std::string wrapped() const          returns the spec of the encoding that a wrapper wraps
///   std::vector<Spec> members() const    returns the encodings of a composition
///   bool chooses_positions() const       returns true if E chooses positions itself: at random, or as coordinates
///   bool replaces_mix() const            returns true if these options change how attention weights values
///   Spec of_layer(int layer, int layers) const    returns the encoding of one of the layers
template <class E>
struct RegisterEncoding {
  static_assert(
      is_in_unnamed_namespace<E>(),
      "put the class into an unnamed namespace, because its file is compiled for floats and for doubles");

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

  static std::optional<Spec> wrapped(const Spec& spec) {
    if constexpr (requires(typename E::Options o) { o.wrapped(); }) return members(spec).front();
    return std::nullopt;
  }

  static ReplacedStages replaces(const Spec& spec) {
    ReplacedStages of_members;
    for (const Spec& member : members(spec))
      of_members = of_members | encodings().find(member.name).replaces(member);
    ReplacedStages stages = replaced_stages<E>(of_members);
    if constexpr (requires(typename E::Options o) { o.replaces_mix(); })
      stages.mix = read_options<typename E::Options>(spec, "encoding").replaces_mix();
    return stages;
  }

  static std::function<Spec(const Spec&, int, int)> of_layer() {
    if constexpr (requires(typename E::Options o) { o.of_layer(0, 1); }) {
      return [](const Spec& spec, int layer, int layers) {
        return read_options<typename E::Options>(spec, "encoding").of_layer(layer, layers);
      };
    }
    return nullptr;
  }

  static bool chooses_positions(const Spec& spec) {
    if constexpr (requires(typename E::Options o) { o.chooses_positions(); }) {
      if (read_options<typename E::Options>(spec, "encoding").chooses_positions()) return true;
    }
    const std::vector<Spec> members = RegisterEncoding::members(spec);
    return std::any_of(members.begin(), members.end(),
                       [](const Spec& member) { return encodings().find(member.name).chooses_positions(member); });
  }

  static std::unique_ptr<PositionEncoding> make(const Spec& spec, const ModelConfig& config,
                                                ParameterLayout& layout) {
    return std::make_unique<E>(read_options<typename E::Options>(spec, "encoding"), config, layout);
  }

  static void add(EncodingInfo info) {
    const std::string name = info.name;
    const Kernel kernel = posbench::own_kernel<E>(info);
    encodings().add(
        name, {.info = std::move(info),
               .options = list_options<typename E::Options>(),
               .canonical = [](const Spec& spec) { return make_canonical<typename E::Options>(spec, "encoding"); },
               .is_rotary = std::is_base_of_v<Rotary, E>,
               .wrapped = wrapped,
               .members = members,
               .replaces = replaces,
               .own_kernel = kernel,
               .of_layer = of_layer(),
               .chooses_positions = chooses_positions,
               .make = make});
  }
};

}  // namespace posbench::inline POSBENCH_REAL
