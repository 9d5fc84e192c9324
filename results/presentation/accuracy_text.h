// How an accuracy is rounded, wherever one is shown.
#pragma once
#include <string>

namespace posbench {

/// Rounded to the nearest number of so many digits; but 1 only where all was right: what would round to 1 and is less is
/// ">0.99".
std::string accuracy_text(double accuracy, int digits = 2);

}  // namespace posbench
