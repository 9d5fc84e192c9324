#include "harness/runs/live_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace posbench {
namespace {

constexpr int kReload = 5;  // seconds

}  // namespace

std::string add_reload(std::string page) {
  const size_t head = page.find("<head>") + 6;
  return page.insert(head, fmt::format("\n<meta http-equiv=\"refresh\" content=\"{}\">", kReload));
}

LivePage::LivePage(const RunDirectory& directory, std::vector<TaskBaseline> baselines, Json context)
    : directory_(directory), baselines_(std::move(baselines)), context_(std::move(context)) {
  update();
}

void LivePage::update() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  if (start < next_) return;
  directory_.write_page(add_reload(directory_.page(report())));
  next_ = start + std::max<Clock::duration>(std::chrono::seconds(kReload), 20 * (Clock::now() - start));
}

void LivePage::stop() const { directory_.write_page(directory_.page(report())); }

SummarizedReport LivePage::report() const { return {make_report(directory_.record(), baselines_, context_)}; }

}  // namespace posbench
