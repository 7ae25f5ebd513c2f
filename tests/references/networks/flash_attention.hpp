#pragma once

// Reference of the workload flash_attention: all scores at once, in double.

#include <cmath>

#include "tests/references/elements.hpp"

namespace lockstep::reference::flash_attention {

constexpr int width = 64;

/// Rows of elements, `pitch` elements apart.
struct Rows {
  const double* first;
  int pitch;
  const double* operator[](int row) const { return first + static_cast<std::size_t>(row) * pitch; }
};
inline double product(const double* a, const double* b, int size = width) {
  double sum = 0;
  for (int i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

/// Scores of one query; returns log2 of the sum of their exponentials, in `share` what each key has
/// of it.
inline double shares_of(const double* query, const Rows& keys, int count, double scale,
                        std::vector<double>& share, int size = width) {
  share.resize(count);
  double sum = 0, top = -INFINITY;
  for (int key = 0; key < count; ++key) {
    share[key] = product(query, keys[key], size) * scale;
    top = std::max(top, share[key]);
  }
  for (double& s : share) sum += s = std::exp(s - top);
  for (double& s : share) s /= sum;
  return top / std::log(2.0) + std::log2(sum);
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const int batch = integer(parameters, "batch"), heads = integer(parameters, "heads");
  const int length = integer(parameters, "length"), pitch = heads * width;
  const bool causal = integer(parameters, "causal") != 0;
  const double scale = parameters.at("scale");
  const auto load = [&](const char* name) { return load_all(buffers, name, isa::Type::f16); };
  const auto q = load("q"), k = load("k"), v = load("v"), d_out = load("d_out");
  std::vector<double> out(q.size()), d_q(q.size()), d_k(q.size()), d_v(q.size());
  std::vector<double> logarithms, sums, share;
  for (int head = 0; head < batch * heads; ++head) {
    const std::size_t at =
        static_cast<std::size_t>(head / heads) * length * pitch + head % heads * width;
    const Rows keys{k.data() + at, pitch}, values{v.data() + at, pitch};
    for (int query = 0; query < length; ++query) {
      const std::size_t row = at + static_cast<std::size_t>(query) * pitch;
      const int count = causal ? query + 1 : length;
      logarithms.push_back(shares_of(&q[row], keys, count, scale, share));
      for (int key = 0; key < count; ++key)
        for (int i = 0; i < width; ++i) out[row + i] += share[key] * values[key][i];
      sums.push_back(product(&out[row], &d_out[row]));
      for (int key = 0; key < count; ++key) {
        const std::size_t other = at + static_cast<std::size_t>(key) * pitch;
        const double d = share[key] * (product(&d_out[row], values[key]) - sums.back()) * scale;
        for (int i = 0; i < width; ++i) {
          d_q[row + i] += d * keys[key][i];
          d_k[other + i] += d * q[row + i];
          d_v[other + i] += share[key] * d_out[row + i];
        }
      }
    }
  }
  store_all(buffers, "out", isa::Type::f16, out);
  store_all(buffers, "logarithms", isa::Type::f32, logarithms);
  if (integer(parameters, "backward") == 0) return;
  store_all(buffers, "sums", isa::Type::f32, sums);
  store_all(buffers, "d_q", isa::Type::f16, d_q);
  store_all(buffers, "d_k", isa::Type::f16, d_k);
  store_all(buffers, "d_v", isa::Type::f16, d_v);
}

}  // namespace lockstep::reference::flash_attention
