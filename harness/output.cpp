#include "harness/output.h"

#include <cstdio>
#include <map>

#include "harness/files.h"

namespace posbench {

Format format(const Output& output) {
  if (output.format) return *output.format;
  static const std::map<std::string, Format> formats{
      {".html", Format::html}, {".md", Format::markdown}, {".csv", Format::csv}, {".json", Format::json}};
  const auto found = formats.find(output.file ? output.file->extension().string() : "");
  return found == formats.end() ? Format::console : found->second;
}

void write(const Output& output, const std::string& text) {
  if (output.file) return write_file(*output.file, text);
  std::fputs(text.c_str(), stdout);
  if (!text.empty() && text.back() != '\n') std::fputc('\n', stdout);
}

}  // namespace posbench
