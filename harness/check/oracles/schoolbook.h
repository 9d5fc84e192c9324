// Computes digit by digit, to check the big-integer arithmetic of the tasks. Numbers are lists of digits, least
// significant first. Results have no superfluous zeros.
#pragma once
#include <vector>

namespace posbench::schoolbook {

using Tokens = std::vector<int>;

Tokens trimmed(Tokens number);
bool less(const Tokens& a, const Tokens& b);
Tokens sum(const Tokens& a, const Tokens& b, int base);
Tokens difference(const Tokens& a, const Tokens& b, int base);  // a >= b
Tokens product(const Tokens& a, const Tokens& b, int base);
/// Returns the root, rounded down. Computes it two bits at a time.
Tokens square_root(Tokens bits);

}  // namespace posbench::schoolbook
