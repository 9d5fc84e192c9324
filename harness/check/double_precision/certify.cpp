// Certifies encodings, in double precision.
#include "harness/check/certify.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "encodings/registry.h"
#include "harness/check/double_precision/certificate.h"

namespace posbench {
namespace {

constexpr double kLargestError = 1e-6;  // of a correct gradient, relative

/// Returns true if the encoding has parameters besides those of the encodings that it wraps.
bool has_own_parameters(const Spec& spec) {
  const auto count = [](const Spec& counted) {
    ParameterLayout layout;
    const auto encoding = make_encoding(counted, fitted(counted, small_config(4, true, true)), layout);
    return layout.entries().size();
  };
  size_t of_members = 0;
  for (const Spec& member : encodings().find(spec.name).members(spec)) of_members += count(member);
  return count(spec) > of_members;
}

/// Returns the worst error among models with this attention and norm. One of the models has dropout.
Worst worst_gradient(const Spec& spec, bool causal, bool pre_norm) {
  Worst worst;
  for (const auto& [heads, length, dropout] :
       std::vector<std::tuple<int, int, double>>{{1, 1, 0}, {1, 6, 0}, {2, 13, 0}, {3, 7, 0.3}, {4, 20, 0}}) {
    ModelConfig config = small_config(heads, causal, pre_norm);
    config.dropout = dropout;
    worst.add(gradient_error(spec, config, length));
  }
  return worst;
}

/// Checks the gradients of one encoding in one shape, causal with pre-norm and bidirectional with post-norm.
ModelsCertificate certify_shape(const std::string& name, const Spec& spec,
                                const std::function<void(ModelConfig&)>& set) {
  ModelsCertificate result;
  try {
    for (const bool causal : {true, false}) {
      if (!is_defined(spec, causal)) continue;
      ModelConfig config = small_config(2, causal, /*pre_norm=*/causal);
      config.trained_length = 5;
      set(config);
      const Worst found = gradient_error(spec, config, 9);
      ++result.certificates;
      result.worst.add({found.error, fmt::format("{}: {}", name, found.where)});
      if (!(found.error <= kLargestError))
        result.failures.push_back(fmt::format("{}: {} is off by {:.1e}", name, found.where, found.error));
    }
  } catch (const InputError& error) {
    ++result.refused;
  }
  return result;
}

/// Measures the gradients and the finite results. Stops at a failure.
void measure_gradients(const Spec& spec, EncodingCertificate& certificate) {
  certificate.finite = true;
  for (const bool causal : {true, false}) {
    if (!is_defined(spec, causal)) continue;
    for (const bool pre_norm : {true, false}) {
      const Worst found = worst_gradient(spec, causal, pre_norm);
      if (std::isinf(found.error)) {  // The other measurements would fail too.
        certificate.failure = found.where;
        return;
      }
      certificate.gradients.push_back({causal, pre_norm, found});
      certificate.worst.add(found);
    }
    const ModelConfig config = small_config(2, causal, true);
    certificate.finite =
        certificate.finite && is_finite(spec, config, 1) && is_finite(spec, config, 4 * config.trained_length);
  }
}

/// Measures the properties. Those of the default options are compared with the registration.
PropertyReport certify_properties(const Spec& spec, bool is_default, double order_sensitivity) {
  const EncodingInfo& info = encodings().find(spec.name).info;
  PropertyReport report;
  try {
    report = measure_properties(spec);
  } catch (const InputError& error) {  // The options exclude the longest sequence.
    if (is_default) throw;
    report.not_measured = error.what();
  }
  if (is_default && (order_sensitivity > 1e-6) == info.permutation_invariant) {
    report.corrections.push_back(fmt::format(
        "permutation_invariant: stated {}, but the order of tokens moves the output by {:.1e}; write {}",
        info.permutation_invariant, order_sensitivity, !info.permutation_invariant));
  }
  if (is_default && has_own_parameters(spec) != info.learned) {
    report.corrections.push_back(fmt::format("learned: stated {}, but the encoding has {} of its own; write {}",
                                             info.learned, info.learned ? "no parameters" : "parameters",
                                             !info.learned));
  }
  if (is_default) report.agrees = report.corrections.empty();
  return report;
}

}  // namespace

void ModelsCertificate::add(const ModelsCertificate& other) {
  certificates += other.certificates;
  refused += other.refused;
  worst.add(other.worst);
  failures.insert(failures.end(), other.failures.begin(), other.failures.end());
}

ModelsCertificate certify_blocks(const Spec& spec) {
  ModelsCertificate all;
  for (const BlockOptions& options : block_options()) all.add(certify_shape(options.name, spec, options.set));
  return all;
}

ModelsCertificate certify_pairs(const std::string& composition, const std::string& first) {
  ModelsCertificate all;
  for (const std::string& second : encodings().names()) {
    if (second < first) continue;
    const Spec spec{composition, {{"of", first + "," + second}}};
    all.add(certify_shape(spec.text(), spec, [](ModelConfig&) {}));
  }
  return all;
}

EncodingCertificate certify(const Spec& spec) {
  EncodingCertificate certificate{.encoding = spec.text()};
  measure_gradients(spec, certificate);
  if (!certificate.failure.empty()) return certificate;
  const ModelConfig config = small_config(4, true, true);
  certificate.order_sensitivity = order_sensitivity(spec, config, 9);
  certificate.causal = is_causal(spec, config, 20);
  certificate.shift_sensitivity = shift_sensitivity(spec, config, 9);
  const EncodingEntry& entry = encodings().find(spec.name);
  const bool is_preset = entry.info.family == Family::preset;  // states no properties of its own
  const bool is_default = !is_preset && entry.canonical(spec).options.empty();
  certificate.properties = certify_properties(spec, is_default, certificate.order_sensitivity);
  if (is_preset) certificate.properties.corrections.clear();
  certificate.passed = certificate.worst.error <= kLargestError && certificate.causal && certificate.finite &&
                       (!is_default || certificate.properties.agrees);
  return certificate;
}

}  // namespace posbench
