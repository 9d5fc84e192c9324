// Arithmetic digit by digit, to check the big-integer arithmetic of the tasks. Numbers are digits, least
// significant first; results have no superfluous zeros.
#pragma once
#include <vector>

namespace posbench::schoolbook {

using Tokens = std::vector<int>;

Tokens trimmed(Tokens number);
bool less(const Tokens& a, const Tokens& b);
Tokens sum(const Tokens& a, const Tokens& b, int base);
Tokens difference(const Tokens& a, const Tokens& b, int base);  // a >= b
Tokens product(const Tokens& a, const Tokens& b, int base);
/// Rounded down; computed two bits at a time.
Tokens square_root(Tokens bits);

}  // namespace posbench::schoolbook
