// `posbench list`: what there is.
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/commands/commands.h"
#include "harness/commands/describe.h"
#include "harness/commands/documentation.h"

namespace posbench {

void add_list(CLI::App& app, Invocation&) {
  struct Request {
    std::string what;
    bool json = false, markdown = false;
  };
  const auto request = std::make_shared<Request>();
  CLI::App* list = app.add_subcommand("list", "List tasks, encodings, profiles or settings");
  list->add_option("what", request->what, "tasks, encodings, profiles or settings")
      ->required()
      ->check(CLI::IsMember({"tasks", "encodings", "profiles", "settings"}));
  CLI::Option* json = list->add_flag("--json", request->json, "as JSON, with options and all that is known");
  list->add_flag("--markdown", request->markdown, "as a page of tasks or encodings, with what is measured of each")
      ->excludes(json);
  list->footer("Examples:\n  posbench list encodings\n  posbench list tasks --json");
  list->callback([request] {
    const std::string text = request->json       ? list_json(request->what).dump(2) + "\n"
                             : request->markdown ? page(request->what)
                                          : list_text(request->what);
    std::fputs(text.c_str(), stdout);
  });
}

}  // namespace posbench
