#include "harness/analysis/step_profile.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "base/system.h"
#include "model/kernels.h"
#include "model/step_part.h"

namespace posbench {
namespace {

/// The kernels that a profile counts separately.
enum class KernelKind : unsigned char { none, product, softmax, norm, activation };

thread_local constinit std::atomic<KernelKind> current_kernel{KernelKind::none};
const Kernels* original = nullptr;

/// Returns a function that calls a kernel of `original` and sets current_kernel meanwhile.
template <KernelKind kind, auto kernel, class Result, class... Arguments>
auto announced(Result (*Kernels::*)(Arguments...)) -> Result (*)(Arguments...) {
  return [](Arguments... arguments) -> Result {
    struct Scope {
      Scope() { current_kernel.store(kind, std::memory_order_relaxed); }
      ~Scope() { current_kernel.store(KernelKind::none, std::memory_order_relaxed); }
    } scope;
    return (original->*kernel)(arguments...);
  };
}

/// Replaces the kernels by those that set current_kernel.
class AnnouncedKernels {
 public:
  AnnouncedKernels() : kernels_(kernels()) {
    original = &kernels();
    announce<KernelKind::product, &Kernels::multiply>();
    announce<KernelKind::product, &Kernels::pack>();
    announce<KernelKind::softmax, &Kernels::softmax>();
    announce<KernelKind::softmax, &Kernels::softmax_backward>();
    announce<KernelKind::norm, &Kernels::layer_norm>();
    announce<KernelKind::norm, &Kernels::layer_norm_backward>();
    announce<KernelKind::activation, &Kernels::gelu>();
    replace_kernels(&kernels_);
  }
  ~AnnouncedKernels() { replace_kernels(nullptr); }
  AnnouncedKernels(const AnnouncedKernels&) = delete;
  AnnouncedKernels& operator=(const AnnouncedKernels&) = delete;

 private:
  template <KernelKind kind, auto kernel>
  void announce() {
    kernels_.*kernel = announced<kind, kernel>(kernel);
  }
  Kernels kernels_;
};

WorkKind work_kind(StepPart part, KernelKind kernel) {
  switch (kernel) {
    case KernelKind::product:
      return part == StepPart::encoding ? WorkKind::attention_products : WorkKind::layer_products;
    case KernelKind::softmax:
      return WorkKind::softmax;
    case KernelKind::norm:
      return WorkKind::norms;
    case KernelKind::activation:
      return WorkKind::activation;
    case KernelKind::none:
      break;
  }
  switch (part) {
    case StepPart::encoding:
      return WorkKind::encoding;
    case StepPart::optimizer:
      return WorkKind::optimizer;
    case StepPart::model:
      break;
  }
  return WorkKind::rest;
}

/// Counts what the thread that creates it does, until it is destroyed.
class WorkSampler {
 public:
  explicit WorkSampler(StepProfile& profile) : profile_(profile), thread_([this] { sample(); }) {}
  ~WorkSampler() {
    ends_ = true;
    thread_.join();
  }
  WorkSampler(const WorkSampler&) = delete;
  WorkSampler& operator=(const WorkSampler&) = delete;

 private:
  void sample() {
    while (!ends_) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      const WorkKind kind =
          work_kind(part_.load(std::memory_order_relaxed), kernel_.load(std::memory_order_relaxed));
      ++profile_.counts[static_cast<size_t>(kind)];
      ++profile_.samples;
    }
  }

  StepProfile& profile_;
  const std::atomic<StepPart>& part_ = current_part;
  const std::atomic<KernelKind>& kernel_ = current_kernel;
  std::atomic<bool> ends_ = false;
  std::thread thread_;
};

}  // namespace

const char* to_string(WorkKind kind) {
  switch (kind) {
    case WorkKind::layer_products:
      return "products of layers";
    case WorkKind::attention_products:
      return "products of attention";
    case WorkKind::softmax:
      return "softmax";
    case WorkKind::norms:
      return "norms";
    case WorkKind::activation:
      return "activation";
    case WorkKind::encoding:
      return "encoding";
    case WorkKind::optimizer:
      return "optimizer";
    case WorkKind::rest:
      return "rest";
    case WorkKind::count:
      break;
  }
  return "";
}

void add_steps(BenchmarkedModel& model, double seconds, StepProfile& profile) {
  const AnnouncedKernels announced;
  const WorkSampler sampler(profile);
  const double start = thread_cpu_seconds();
  double now = start;
  do {
    model.step();
    ++profile.steps;
    now = thread_cpu_seconds();
  } while (now - start < seconds);
  profile.seconds += now - start;
}

}  // namespace posbench
