#pragma once

// Reference of the workload transformer_block, in double: only the buffers of halves are rounded.

#include "tests/references/networks/flash_attention.hpp"
#include "tests/references/networks/gelu.hpp"
#include "tests/references/networks/layer_norm.hpp"

namespace lockstep::reference::transformer_block {

using Matrix = std::vector<double>;

inline void round_to_halves(Matrix& matrix) {
  for (double& x : matrix) x = as_half(x);
}
inline Matrix normalised(const Matrix& x, const Matrix& gain, const Matrix& bias) {
  const std::size_t columns = gain.size();
  Matrix out;
  for (std::size_t at = 0; at < x.size(); at += columns) {
    const auto [mean, scale] = layer_norm::moments_of(&x[at], static_cast<int>(columns));
    for (std::size_t i = 0; i < columns; ++i)
      out.push_back((x[at + i] - mean) * scale * gain[i] + bias[i]);
  }
  round_to_halves(out);
  return out;
}
inline Matrix linear(const Matrix& x, const Matrix& weights, const Matrix& bias) {
  const std::size_t n = bias.size(), k = weights.size() / n;
  Matrix out;
  for (std::size_t at = 0; at < x.size(); at += k)
    for (std::size_t column = 0; column < n; ++column) {
      double sum = bias[column];
      for (std::size_t i = 0; i < k; ++i) sum += x[at + i] * weights[column * k + i];
      out.push_back(sum);
    }
  return out;
}
/// Causal, of rows that hold queries, keys and values of all heads.
inline Matrix attended(const Matrix& qkv, int batch, int length, int heads) {
  using flash_attention::width;
  const int channels = heads * width, pitch = 3 * channels;
  Matrix out(qkv.size() / 3), share;
  for (int head = 0; head < batch * heads; ++head) {
    const double* first = &qkv[static_cast<std::size_t>(head / heads) * length * pitch] +
                          static_cast<std::ptrdiff_t>(head % heads) * width;
    const flash_attention::Rows queries{first, pitch}, keys{first + channels, pitch};
    const flash_attention::Rows values{first + 2 * channels, pitch};
    for (int query = 0; query < length; ++query) {
      flash_attention::shares_of(queries[query], keys, query + 1, 0.125, share);
      double* to = &out[(static_cast<std::size_t>(head / heads) * length + query) * channels] +
                   static_cast<std::ptrdiff_t>(head % heads) * width;
      for (int key = 0; key <= query; ++key)
        for (int i = 0; i < width; ++i) to[i] += share[key] * values[key][i];
    }
  }
  round_to_halves(out);
  return out;
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  using isa::Type;
  const auto floats = [&](const char* name) { return load_all(buffers, name, Type::f32); };
  const auto halves = [&](const char* name) { return load_all(buffers, name, Type::f16); };
  const auto add = [](Matrix& to, const Matrix& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  const Matrix gain = floats("norm_gain"), bias = floats("norm_bias");
  Matrix x = floats("x"), normal, qkv, heads_out, hidden;
  for (int layer = 0; layer < integer(parameters, "layers"); ++layer) {
    normal = normalised(x, gain, bias);
    qkv = linear(normal, halves("qkv_weights"), floats("qkv_bias"));
    round_to_halves(qkv);
    heads_out = attended(qkv, integer(parameters, "batch"), integer(parameters, "length"),
                         integer(parameters, "heads"));
    add(x, linear(heads_out, halves("out_weights"), floats("out_bias")));
    normal = normalised(x, gain, bias);
    hidden = linear(normal, halves("up_weights"), floats("up_bias"));
    for (double& h : hidden) h = gelu::gelu(h);
    round_to_halves(hidden);
    add(x, linear(hidden, halves("down_weights"), floats("down_bias")));
  }
  store_all(buffers, "x", Type::f32, x);
  store_all(buffers, "normal", Type::f16, normal);
  store_all(buffers, "qkv", Type::f16, qkv);
  store_all(buffers, "attended", Type::f16, heads_out);
  store_all(buffers, "hidden", Type::f16, hidden);
}

}  // namespace lockstep::reference::transformer_block
