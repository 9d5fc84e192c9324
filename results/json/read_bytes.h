// Reads files that gzip may have compressed, within limits of size.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace posbench {

bool is_compressed(std::string_view bytes);

/// Returns the text that gzip compressed, in one file or in several joined ones. Messages call it `file`. Throws
/// InputError.
std::string decompress(std::string_view bytes, const std::string& file);

/// Returns the content of a file or a pipe, decompressed. Throws InputError.
std::string read_decompressed(const std::filesystem::path& file);

}  // namespace posbench
