// `posbench completion`: scripts that complete commands, options and names in a shell.
#include "harness/console/completion.h"

#include <cstdio>
#include <memory>
#include <string>

#include "harness/commands/commands.h"

namespace posbench {

void add_completion(CommandLine& line) {
  const auto shell = std::make_shared<std::string>();
  Command& command =
      line.add(kSetUp, "completion", "Print a script that completes commands, options and names in a shell");
  command.choice("shell", *shell, {"bash", "zsh", "fish"}, "shell that runs the script").required();
  command.explain(
      {{"source <(posbench completion bash)", "in ~/.bashrc"},
       {"source <(posbench completion zsh)", "in ~/.zshrc, after compinit"},
       {"posbench completion fish | source", "in ~/.config/fish/config.fish"}},
      {"The script also completes the names of the plug-ins in POSBENCH_PLUGINS, and of those behind --plugin."});
  command.run([shell] { std::fputs(completion_script(*shell).c_str(), stdout); });
}

}  // namespace posbench
