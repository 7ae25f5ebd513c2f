#pragma once

// Reference of the workload flash_attention_hopper: all scores at once, in double.

#include "tests/references/networks/flash_attention.hpp"

namespace lockstep::reference::flash_attention_hopper {

inline void run(const Parameters& parameters, Buffers& buffers) {
  using flash_attention::Rows;
  const int batch = integer(parameters, "batch"), heads = integer(parameters, "heads");
  const int length = integer(parameters, "length"), width = integer(parameters, "width");
  const int pitch = heads * width;
  const bool causal = integer(parameters, "causal") != 0;
  const auto load = [&](const char* name) { return load_all(buffers, name, isa::Type::f16); };
  const auto q = load("q"), k = load("k"), v = load("v");
  std::vector<double> out(q.size()), logarithms, share;
  for (int head = 0; head < batch * heads; ++head) {
    const std::size_t at =
        static_cast<std::size_t>(head / heads) * length * pitch + head % heads * width;
    const Rows keys{k.data() + at, pitch}, values{v.data() + at, pitch};
    for (int query = 0; query < length; ++query) {
      const std::size_t row = at + static_cast<std::size_t>(query) * pitch;
      const int count = causal ? query + 1 : length;
      logarithms.push_back(
          flash_attention::shares_of(&q[row], keys, count, parameters.at("scale"), share, width));
      for (int key = 0; key < count; ++key)
        for (int i = 0; i < width; ++i) out[row + i] += share[key] * values[key][i];
    }
  }
  store_all(buffers, "out", isa::Type::f16, out);
  store_all(buffers, "logarithms", isa::Type::f32, logarithms);
  const double tiles = batch * heads * (length / 128);
  store_all(buffers, "taken", isa::Type::u32, std::vector<double>{causal ? tiles : 0});
}

}  // namespace lockstep::reference::flash_attention_hopper
