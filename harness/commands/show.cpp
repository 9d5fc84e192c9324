// `posbench show`: all that is known of one name.
#include <memory>

#include "harness/commands/commands.h"
#include "harness/commands/describe.h"

namespace posbench {

void add_show(CLI::App& app, Invocation&) {
  const auto name = std::make_shared<std::string>();
  CLI::App* show =
      app.add_subcommand("show", "Definition, source, options, splits and trivial baselines of one name");
  show->add_option("name", *name, "a task or an encoding, with options if wanted, or a profile")->required();
  show->footer(
      "Examples:\n  posbench show cope\n  posbench show flip_flop:length=64\n"
      "  posbench show standard > mine.json    a profile's settings, to change and give to 'run --config'");
  show->callback([name] { std::fputs(show_text(*name).c_str(), stdout); });
}

}  // namespace posbench
