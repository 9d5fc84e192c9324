#include "harness/training/extension.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "encodings/registry.h"
#include "harness/training/make_model.h"

namespace posbench {
namespace {

constexpr const char* kSeparator = "->";

Spec canonical(const std::string& text) {
  const Spec spec = Spec::parse(text);
  return encodings().find(spec.name).canonical(spec);
}

/// Throws InputError if a model with the encoding `to` needs parameters that one with `from` does not have.
void check_shared(const Spec& from, const Spec& to, const ModelConfig& config) {
  const Model parent = make_model(from, config), child = make_model(to, config);
  for (const ParameterLayout::Entry& entry : child.layout.entries()) {
    const Parameter& needed = entry.parameter;
    const ParameterLayout::Entry* shared = parent.layout.find(entry.name);
    if (shared && shared->parameter.rows == needed.rows && shared->parameter.cols == needed.cols) continue;
    const std::string has = shared
                                ? fmt::format("has it as {} x {}", shared->parameter.rows, shared->parameter.cols)
                                : "does not have it";
    throw InputError(fmt::format(
        "extend.encodings: a model trained with '{0}' cannot be tested with '{1}': '{1}' needs the parameter '{2}' "
        "({3} x {4}), and '{0}' {5}; name an encoding without parameters of its own, or a parent, as in "
        "--extend 'rope->none'",
        from.text(), to.text(), entry.name, needed.rows, needed.cols, has));
  }
}

}  // namespace

std::string Extension::label(const std::string& parent) const {
  const std::string further = steps == 0 ? "" : " +" + counted(static_cast<size_t>(steps), "step");
  return parent + kSeparator + encoding.text() + further;
}

std::vector<ExtensionRequest> parse_extensions(const ExtendOptions& options) {
  std::vector<ExtensionRequest> requests;
  if (options.encodings.empty()) return requests;
  for (const std::string& item : split_specs(options.encodings)) {
    const size_t separator = item.find(kSeparator);
    ExtensionRequest request;
    if (separator != item.npos) request.parent = canonical(item.substr(0, separator)).text();
    request.encoding = canonical(separator == item.npos ? item : item.substr(separator + 2));
    requests.push_back(std::move(request));
  }
  return requests;
}

std::vector<Extension> extensions_of(const Spec& parent, const Spec& base, const ExtendOptions& options,
                                     const ModelConfig& config) {
  std::vector<Extension> extensions;
  for (const ExtensionRequest& request : parse_extensions(options)) {
    if (!request.parent.empty() && request.parent != parent.text() && request.parent != base.text()) continue;
    const std::string label = Extension{request.encoding}.label(parent.text());
    if (std::any_of(extensions.begin(), extensions.end(),
                    [&](const Extension& e) { return e.encoding.text() == request.encoding.text(); })) {
      throw InputError(fmt::format("extend.encodings has '{}' twice; name it once", label));
    }
    const bool itself = request.encoding.text() == parent.text();
    if (itself && options.steps == 0) {
      throw InputError(fmt::format(
          "extend.encodings: '{}' is the model itself; leave it out, or train it further with extend.steps",
          label));
    }
    check_shared(parent, request.encoding, config);
    if (!itself) extensions.push_back({request.encoding, 0});
    if (options.steps > 0) extensions.push_back({request.encoding, options.steps});
  }
  return extensions;
}

Parameters shared_parameters(const ParameterLayout& from, const Parameters& values, const ParameterLayout& to) {
  Parameters shared(to);
  for (const ParameterLayout::Entry& entry : to.entries()) {
    const ParameterLayout::Entry* source = from.find(entry.name);
    if (source == nullptr) throw std::logic_error("the parent has no parameter " + entry.name);
    shared[entry.parameter] = values[source->parameter];
  }
  return shared;
}

}  // namespace posbench
