#include "harness/check/oracles/schoolbook.h"

#include <algorithm>

namespace posbench::schoolbook {

Tokens trimmed(Tokens number) {
  while (number.size() > 1 && number.back() == 0) number.pop_back();
  return number;
}

bool less(const Tokens& a, const Tokens& b) {
  const Tokens x = trimmed(a), y = trimmed(b);
  if (x.size() != y.size()) return x.size() < y.size();
  return std::lexicographical_compare(x.rbegin(), x.rend(), y.rbegin(), y.rend());
}

Tokens sum(const Tokens& a, const Tokens& b, int base) {
  Tokens result;
  int carry = 0;
  for (size_t i = 0; i < std::max(a.size(), b.size()) || carry > 0; ++i) {
    const int column = carry + (i < a.size() ? a[i] : 0) + (i < b.size() ? b[i] : 0);
    result.push_back(column % base);
    carry = column / base;
  }
  return trimmed(result);
}

Tokens difference(const Tokens& a, const Tokens& b, int base) {
  Tokens result = a;
  int borrow = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const int column = a[i] - (i < b.size() ? b[i] : 0) - borrow;
    borrow = column < 0;
    result[i] = column + borrow * base;
  }
  return trimmed(result);
}

Tokens product(const Tokens& a, const Tokens& b, int base) {
  Tokens result(a.size() + b.size(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    int carry = 0;
    for (size_t j = 0; j < b.size(); ++j) {
      const int column = result[i + j] + a[i] * b[j] + carry;
      result[i + j] = column % base;
      carry = column / base;
    }
    result[i + b.size()] += carry;
  }
  return trimmed(result);
}

Tokens square_root(Tokens bits) {
  if (bits.size() % 2 == 1) bits.push_back(0);
  Tokens root{0}, remainder{0};
  for (size_t i = bits.size(); i > 0; i -= 2) {
    remainder.insert(remainder.begin(), {bits[i - 2], bits[i - 1]});
    Tokens trial = root;  // 4 root + 1
    trial.insert(trial.begin(), {1, 0});
    const bool fits = !less(remainder, trial);
    if (fits) remainder = difference(remainder, trial, 2);
    root.insert(root.begin(), fits);
  }
  return trimmed(root);
}

}  // namespace posbench::schoolbook
