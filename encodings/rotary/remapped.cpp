// Replaces the distances of a rotary encoding by smaller ones, so that longer sequences stay within the trained
// distances.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "encodings/methods.h"
#include "encodings/parts/decorator.h"
#include "encodings/parts/require_use.h"
#include "encodings/parts/rotary.h"
#include "encodings/registry.h"

namespace posbench::remapped {
namespace {

const EncodingInfo kInfo{
    .name = "remapped",
    .family = Family::rotary,
    .equation =
        "score_h(i, j) = R(a) q_i . R(b) k_j / sqrt(D) with the rotation R of the base.   "
        "The distance p_i - p_j = d becomes a - b:\n"
        "rerope:      d if d < w, else w; with a group g, w + (d - w) / g\n"
        "self_extend: d if d < w, else floor(p_i / g) - floor(p_j / g) + w - floor(w / g)\n"
        "dual_chunk:  r_i - r_j in one chunk of c tokens, min(r_i + c, c + w) - r_j from the next chunk, "
        "min(2 c - 1, c + w) - r_j from later chunks,   r = p mod c\n"
        "string:      d if d < s, else d - s + w\n"
        "attention_factor multiplies the rotated queries and keys",
    .source =
        "rerope: Su 2023, kexue.fm/archives/9708, bojone/rerope; self_extend: Jin et al. 2024, arXiv:2401.01325, "
        "datamllab/LongLM; dual_chunk: An et al. 2024, arXiv:2402.17463, HKUNLP/ChunkLlama; "
        "string: An et al. 2024, arXiv:2410.18745, equation 3, HKUNLP/STRING",
    .used_in = {"Qwen2.5-1M"},
    .notes =
        "The methods extend a trained model without further training, as --extend does. By itself the encoding "
        "trains with the new distances. Defaults follow the authors' code, as fractions of the trained length L: "
        "w is L / 8 for rerope, L / 4 for self_extend, L / 16 for dual_chunk and L / 1024 for string; c is 3 L / "
        "4 - w and s is 0.33 L. All are at least 1, and w of rerope at least 2, because with 1 the order of "
        "earlier tokens is lost. Leaky ReRoPE is rerope with a group. The code of rerope also multiplies queries "
        "by max(1, ln(i + 1) / ln L), as model.logit_scale=log_length_beyond does. LongLM subtracts w / g where "
        "the paper has floor(w / g), which is equal if g divides w. The code of STRING counts the key at "
        "distance s twice while it reads a prompt, and once while it generates; here it counts once. That code "
        "also multiplies rotated queries and keys by 0.1 ln 2 + 1, attention_factor=1.0693147 and scores 1.143 "
        "times as large. The code of ChunkLlama multiplies them by 0.05 ln(T / L) + 1 for sequences of T > L "
        "tokens; attention_factor expresses that for one length. By its comment the results of its paper did not "
        "use the factor. string avoids distances that are rare in training and keeps sequences of up to L + s - "
        "w tokens within the distances that its base was trained with.",
    .causal_only = true,
    .extrapolates = {Extrapolation::yes,
                     "but not self_extend and string, which exceed the distances that they train with"},
    .relative = {Relative::yes, "but self_extend and dual_chunk count groups and chunks from the first token"},
    .content_dependent = "no",
    .distinct = {Distinct::partly, "only the nearest w tokens with rerope"},
    .variants = {"window=4,group=2", "base=xpos,method=self_extend,window=3,group=2",
                 "base=(rope:pairing=half_split),method=dual_chunk,window=2,chunk=4,attention_factor=1.2",
                 "base=rope_partial,method=string,window=2,shift=5"},
};

/// The keys at some distances from each query, with the rotations of both.
struct Region {
  Rotations queries, keys;
};

/// The regions, from the nearest keys to the farthest ones.
struct Regions {
  std::vector<Region> all;
  std::vector<Real> positions;  // one for each token, ascending
};

class Remapped final : public Decorator {
 public:
  enum class Method { rerope, self_extend, dual_chunk, string };
  struct Options {
    std::string base = "rope";
    Method method = Method::rerope;
    int window = 0, group = 0, chunk = 0, shift = 0;
    double attention_factor = 1;
    std::string wrapped() const { return base; }
    void describe(OptionTable& o) {
      constexpr int kMax = 1 << 20;
      o.text("base", base, "a rotary encoding", "encoding whose distances are replaced");
      o.choice("method", method, {"rerope", "self_extend", "dual_chunk", "string"}, "new distances");
      o.integer("window", window, 0, kMax, "w, in tokens; 0: the default of the method, a fraction of L");
      o.integer(
          "group", group, 0, kMax,
          "g; 0: for rerope all distances beyond w are w, and for self_extend g is large enough for the longest "
          "sequence of any split");
      o.integer("chunk", chunk, 0, kMax, "dual_chunk: c, in tokens; 0: 3 L / 4 - w");
      o.integer("shift", shift, 0, kMax, "string: s, in tokens; 0: 0.33 L");
      o.number("attention_factor", attention_factor, 0.001, 1e3, "factor of rotated queries and keys");
    }
  };

  Remapped(const Options& options, const ModelConfig& config, ParameterLayout& layout)
      : Decorator(config, make_rotary(kInfo.name, options.base, config, layout)),
        rotary_(static_cast<const Rotary&>(inner())),
        method_(options.method),
        attention_factor_(options.attention_factor) {
    const Spec base = Spec::parse(options.base);
    if (encodings().find(base.name).replaces(base).mix) {
      throw InputError(fmt::format(
          "encoding 'remapped': base is '{}', but distances here do not follow from positions, by which it rotates "
          "values; leave out values",
          options.base));
    }
    const bool has_group = method_ == Method::rerope || method_ == Method::self_extend;
    require_use("remapped", "group", options.group, 0, has_group, "its method");
    require_use("remapped", "chunk", options.chunk, 0, method_ == Method::dual_chunk, "its method");
    require_use("remapped", "shift", options.shift, 0, method_ == Method::string, "its method");
    const double L = config.trained_length;
    constexpr double kWindows[] = {1.0 / 8, 1.0 / 4, 1.0 / 16, 1.0 / 1024};
    window_ = tokens(options.window, kWindows[static_cast<int>(method_)] * L, method_ == Method::rerope ? 2 : 1);
    const bool finds_group = method_ == Method::self_extend && options.group == 0;
    group_ = finds_group ? smallest_group() : options.group;
    chunk_ = tokens(options.chunk, std::floor(3 * L / 4) - window_);
    shift_ = tokens(options.shift, 0.33 * L);
    const bool has_chunk = options.chunk > 0 || options.window == 0 || std::floor(3 * L / 4) > window_;
    if (method_ == Method::dual_chunk && !has_chunk) {
      throw InputError(fmt::format(
          "encoding 'remapped': window is {}, so that no chunk remains of 3 / 4 of the trained length, {}; expected a "
          "smaller window, or set chunk",
          window_, config.trained_length));
    }
    if (method_ == Method::string && window_ > shift_) {
      throw InputError(fmt::format(
          "encoding 'remapped': window is {} and shift is {}, so that distances would grow; expected window <= shift",
          window_, shift_));
    }
  }

  void tables(const Parameters&, const Positions& positions, Tables& tables) const override {
    Regions& regions = tables.constants<Regions>();
    regions.positions = positions.at;
    regions.all.resize(method_ == Method::dual_chunk ? 3 : 2);
    Spectrum spectrum = rotary_.spectrum();
    spectrum.amplitude *= attention_factor_;
    const double middle = middle_of(positions);
    Positions moved = positions;
    for (size_t r = 0; r < regions.all.size(); ++r) {
      for (size_t t = 0; t < moved.at.size(); ++t) moved.at[t] = query_position(r, positions.at[t]);
      rotary_.rotations(moved, spectrum, middle, regions.all[r].queries);
      for (size_t t = 0; t < moved.at.size(); ++t) moved.at[t] = key_position(r, positions.at[t]);
      rotary_.rotations(moved, spectrum, middle, regions.all[r].keys);
    }
  }

  void score(const AttentionInput& in, Heads& scores) const override {
    const Regions& regions = in.tables.constants<Regions>();
    RotaryScratch scratch(in.scratch, in.length(), config_.head_width());
    Matrix& of_region = in.scratch(in.length(), in.length());
    for (size_t h = 0; h < scores.size(); ++h) {
      for (size_t r = 0; r < regions.all.size(); ++r) {
        rotary_.score_head(in, h, regions.all[r].queries, regions.all[r].keys, scratch, of_region);
        copy_region(regions, r, of_region, scores[h]);
      }
    }
  }

  void score_backward(const AttentionInput& in, const Heads& d_scores, AttentionGradient& d) const override {
    const Regions& regions = in.tables.constants<Regions>();
    RotaryScratch scratch(in.scratch, in.length(), config_.head_width());
    Matrix& of_region = in.scratch(in.length(), in.length());
    for (size_t h = 0; h < d_scores.size(); ++h) {
      for (size_t r = 0; r < regions.all.size(); ++r) {
        of_region.setZero();
        copy_region(regions, r, d_scores[h], of_region);
        rotary_.score_head_backward(in, h, regions.all[r].queries, regions.all[r].keys, of_region, scratch, d);
      }
    }
  }

  void content(const AttentionInput& in, Heads& content) const override {
    rotary_.content(in, in.tables.constants<Regions>().all.front().queries, content);
  }

 private:
  /// Returns the option, or its default if it is 0.
  static int tokens(int option, double standard, int least = 1) {
    return option > 0 ? option : std::max(least, static_cast<int>(standard));
  }

  /// Returns the smallest group with which the distances of self_extend in the longest sequence are trained ones.
  int smallest_group() const {
    int group = 1;
    while (group < config_.longest &&
           (config_.longest - 1) / group + window_ - window_ / group >= config_.trained_length)
      ++group;
    return group;
  }

  /// Returns a of a query at position p, for the keys of region r.
  Real query_position(size_t r, Real p) const {
    const auto w = static_cast<Real>(window_), g = static_cast<Real>(group_), c = static_cast<Real>(chunk_);
    const Real in_chunk = std::fmod(p, c);
    switch (method_) {
      case Method::rerope:
        return r == 0 ? p : group_ > 0 ? (p + w * (g - 1)) / g : w;
      case Method::self_extend:
        return r == 0 ? p : std::floor(p / g) + w - std::floor(w / g);
      case Method::dual_chunk:
        return r == 0 ? in_chunk : std::min(r == 1 ? in_chunk + c : 2 * c - 1, c + w);
      case Method::string:
        return r == 0 ? p : p - static_cast<Real>(shift_) + w;
    }
    return p;
  }

  /// Returns b of a key of region r at position p.
  Real key_position(size_t r, Real p) const {
    if (method_ == Method::dual_chunk) return std::fmod(p, static_cast<Real>(chunk_));
    if (r == 0 || method_ == Method::string) return p;
    if (group_ == 0) return 0;
    const Real grouped = p / static_cast<Real>(group_);
    return method_ == Method::self_extend ? std::floor(grouped) : grouped;
  }

  /// Returns the first key of region r that query i sees. The region ends before the region of nearer keys.
  Index first_key(const Regions& regions, size_t r, Index i) const {
    if (r + 1 == regions.all.size()) return 0;
    const std::vector<Real>& p = regions.positions;
    const Real query = p[static_cast<size_t>(i)];
    const auto end = p.begin() + i + 1;
    if (method_ == Method::dual_chunk) {
      const auto c = static_cast<Real>(chunk_);
      return std::lower_bound(p.begin(), end, (std::floor(query / c) - static_cast<Real>(r)) * c) - p.begin();
    }
    const Real nearer = query - static_cast<Real>(method_ == Method::string ? shift_ : window_);
    return std::upper_bound(p.begin(), end, nearer) - p.begin();
  }

  void copy_region(const Regions& regions, size_t r, const Matrix& from, Matrix& to) const {
    for (Index i = 0; i < from.rows(); ++i) {
      const Index first = first_key(regions, r, i), end = r == 0 ? i + 1 : first_key(regions, r - 1, i);
      to.row(i).segment(first, end - first) = from.row(i).segment(first, end - first);
    }
  }

  const Rotary& rotary_;  // inner()
  Method method_;
  double attention_factor_;
  int window_ = 1, chunk_ = 1, shift_ = 1;
  int group_ = 0;  // 0: all distances beyond w are w
};

const RegisterEncoding<Remapped> registered{kInfo};
const RegisterMethods methods{kInfo.name,
                              {{"rerope", "method=rerope"},
                               {"self_extend", "method=self_extend"},
                               {"self-extend", "method=self_extend"},
                               {"dca", "method=dual_chunk"},
                               {"dual_chunk", "method=dual_chunk"},
                               {"string", "method=string"}}};

}  // namespace
}  // namespace posbench::remapped
