// Gives every file of a folder to the fuzz target, without a fuzzer.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "tests/temporary.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, size_t size);

int main(int count, char** arguments) {
  int files = 0;
  for (int n = 1; n < count; ++n) {
    for (const auto& entry : std::filesystem::directory_iterator(arguments[n])) {
      std::printf("%s\n", entry.path().c_str());
      std::fflush(stdout);
      const std::string text = posbench::read_whole(entry.path());
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
      ++files;
    }
  }
  return files > 0 ? 0 : 1;
}
