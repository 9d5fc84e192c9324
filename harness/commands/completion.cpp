// `posbench completion`: scripts that complete commands, options and names in a shell.
#include "harness/console/completion.h"

#include <cstdio>
#include <memory>
#include <string>

#include "harness/commands/commands.h"
#include "harness/console/command_description.h"
#include "harness/console/help.h"

namespace posbench {

void add_completion(CLI::App& app, Invocation&) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes commands, options and names in a shell")
          ->group(kSetUp);
  command->add_option("shell", *shell, "shell that runs the script")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  set_footer(*command,
             {{"source <(posbench completion bash)", "in ~/.bashrc"},
              {"source <(posbench completion zsh)", "in ~/.zshrc, after compinit"},
              {"posbench completion fish | source", "in ~/.config/fish/config.fish"}},
             {"With --plugin or POSBENCH_PLUGINS the script also completes the names of plug-ins."});
  command->callback(
      [shell, &app] { std::fputs(completion_script(describe_command_line(app), *shell).c_str(), stdout); });
}

}  // namespace posbench
