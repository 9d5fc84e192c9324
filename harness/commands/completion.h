// Scripts and a page made from the command line itself: its verbs, their options and the registered names.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace posbench {

/// `shell` is bash, zsh or fish.
std::string completion_script(const CLI::App&, const std::string& shell);

/// The manual page posbench(1), for man.
std::string man_page(const CLI::App&);

}  // namespace posbench
