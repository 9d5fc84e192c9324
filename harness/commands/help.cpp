// `posbench help`: the usage of a command, and docs/cli.md.
#include "harness/console/help.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "harness/commands/commands.h"
#include "harness/console/command_description.h"
#include "harness/console/command_reference.h"

namespace posbench {

void add_help(CLI::App& app, Invocation&) {
  struct Request {
    std::string command;
    bool markdown = false;
  };
  const auto request = std::make_shared<Request>();
  CLI::App* command = app.add_subcommand("help", "Show the usage of a command")->group(kSetUp);
  std::vector<std::string> names;
  for (const CLI::App* each : app.get_subcommands({})) names.push_back(each->get_name());
  CLI::Option* name =
      command->add_option("command", request->command, "name of a command; without it all commands")
          ->check(one_of(names));
  command
      ->add_flag("--markdown", request->markdown,
                 "Markdown page of all commands with their options and examples, which is docs/cli.md")
      ->excludes(name);
  set_footer(*command, {{"posbench help run", "the same as 'posbench run --help'"},
                        {"posbench help --markdown > cli.md", "all commands on one page"}});
  command->callback([request, &app] {
    const CLI::App* shown = request->command.empty() ? &app : app.get_subcommand(request->command);
    std::fputs((request->markdown ? command_reference(describe_command_line(app))
                                  : HelpFormatter().make_help(shown, "", CLI::AppFormatMode::Normal))
                   .c_str(),
               stdout);
  });
}

}  // namespace posbench
