// `posbench list`: what there is.
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/commands/commands.h"
#include "harness/commands/describe.h"
#include "harness/commands/documentation.h"
#include "harness/commands/help.h"
#include "harness/commands/terminal.h"
#include "harness/commands/waiting.h"

namespace posbench {

void add_list(CLI::App& app, Invocation&) {
  struct Request {
    std::string what;
    bool json = false, markdown = false;
  };
  const auto request = std::make_shared<Request>();
  CLI::App* list = app.add_subcommand("list", "List tasks, encodings, profiles or settings");
  list->add_option("what", request->what, "")
      ->required()
      ->check(one_of({"tasks", "encodings", "profiles", "settings"}));
  CLI::Option* json = list->add_flag("--json", request->json, "print JSON, with options and all properties");
  list->add_flag("--markdown", request->markdown,
                 "print a Markdown page of tasks or encodings, with their measured properties")
      ->excludes(json);
  list->footer("Examples:\n  posbench list encodings\n  posbench list tasks --json");
  list->callback([request] {
    const Waiting waiting("measuring");
    const std::string text = request->json       ? list_json(request->what).dump(2) + "\n"
                             : request->markdown ? page(request->what)
                                          : list_text(request->what, on_terminal() ? console_width() : 0);
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace posbench
