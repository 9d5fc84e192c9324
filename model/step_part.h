// Names the part of a training step that each thread computes, so that `posbench bench --profile` can tell the
// work of an encoding from that of the model around it.
#pragma once
#include <atomic>

#include "base/real.h"

namespace posbench::inline POSBENCH_REAL {

enum class StepPart : unsigned char { model, encoding, optimizer };

inline thread_local constinit std::atomic<StepPart> current_part{StepPart::model};

/// Sets the part of this thread until the end of the scope. It costs two stores.
class PartScope {
 public:
  explicit PartScope(StepPart part) : before_(current_part.load(std::memory_order_relaxed)) {
    current_part.store(part, std::memory_order_relaxed);
  }
  ~PartScope() { current_part.store(before_, std::memory_order_relaxed); }
  PartScope(const PartScope&) = delete;
  PartScope& operator=(const PartScope&) = delete;

 private:
  StepPart before_;
};

}  // namespace posbench::inline POSBENCH_REAL
