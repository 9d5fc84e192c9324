#include "harness/commands/live_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "results/presentation/report_page.h"

namespace posbench {
namespace {

constexpr int kReload = 5;  // seconds

}  // namespace

std::string reloading_page(std::span<const NamedReport> runs) {
  std::string page = report_page(runs);
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
  const Report now = report();
  const NamedReport run{directory_.path().string(), now};
  directory_.write_page(reloading_page({&run, 1}));
  next_ = start + std::max<Clock::duration>(std::chrono::seconds(kReload), 20 * (Clock::now() - start));
}

void LivePage::stop() const {
  const Report now = report();
  const NamedReport run{directory_.path().string(), now};
  directory_.write_page(report_page({&run, 1}));
}

Report LivePage::report() const { return fold(directory_.record(), baselines_, context_); }

}  // namespace posbench
