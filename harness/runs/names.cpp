#include "harness/runs/names.h"

#include <fnmatch.h>

#include <algorithm>
#include <cctype>

#include "encodings/registry.h"
#include "tasks/registry.h"

namespace posbench {
namespace {

bool same_but_for_case(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

template <class Entry>
std::string registered(const Registry<Entry>& registry, const std::string& text) {
  if (registry.contains(text)) return text;
  std::vector<std::string> alike;
  for (const std::string& name : registry.names()) {
    if (same_but_for_case(name, text)) alike.push_back(name);
  }
  return alike.size() == 1 ? alike.front() : text;
}

/// With the registered names of the encoding and of those that it wraps.
Spec named_encoding(Spec spec) {
  spec.name = encoding_name(spec.name);
  if (!encodings().contains(spec.name)) return spec;
  for (const OptionInfo& option : encodings().find(spec.name).options) {
    for (auto& [key, value] : spec.options) {
      const bool names_encoding = encodings().contains(encoding_name(value.substr(0, value.find(':'))));
      if (key == option.name && option.type == "text" && names_encoding) value = named_encoding(Spec::parse(value)).text();
    }
  }
  return spec;
}

}  // namespace

std::string task_name(const std::string& text) { return registered(tasks(), text); }
std::string encoding_name(const std::string& text) { return registered(encodings(), text); }

TaskSpec read_task(const std::string& text) {
  Spec spec = Spec::parse(text);
  spec.name = task_name(spec.name);
  return TaskSpec::parse(spec.text());
}

Spec read_encoding(const std::string& text) {
  const Spec spec = named_encoding(Spec::parse(text));
  return encodings().find(spec.name).canonical(spec);
}

std::vector<std::string> matching(const std::string& pattern, const std::vector<std::string>& names) {
  std::vector<std::string> matches;
  std::copy_if(names.begin(), names.end(), std::back_inserter(matches), [&](const std::string& name) {
    return fnmatch(pattern.c_str(), name.c_str(), FNM_CASEFOLD) == 0;
  });
  return matches;
}

}  // namespace posbench
