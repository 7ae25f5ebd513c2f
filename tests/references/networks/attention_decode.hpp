#pragma once

// Reference of the workload attention_decode, in double.

#include "tests/references/networks/flash_attention.hpp"

namespace lockstep::reference::attention_decode {

inline void run(const Parameters& parameters, Buffers& buffers) {
  using flash_attention::width;
  const int batch = integer(parameters, "batch"), heads = integer(parameters, "heads");
  const int pages = integer(parameters, "pages"), tokens = 16;
  const auto q = load_all(buffers, "q", isa::Type::f16);
  const auto keys = load_all(buffers, "keys", isa::Type::f16);
  const auto values = load_all(buffers, "values", isa::Type::f16);
  const auto table = buffers.as<std::uint32_t>("table");
  const auto lengths = buffers.as<std::uint32_t>("lengths");
  std::vector<double> out, own, share;
  for (int sequence = 0; sequence < batch; ++sequence)
    for (int head = 0; head < heads; ++head) {
      const int length = static_cast<int>(lengths[sequence]);
      const auto place = [&](int token) {
        const std::size_t page = table[sequence * pages + token / tokens];
        return ((page * heads + head) * tokens + token % tokens) * width;
      };
      own.clear();
      for (int t = 0; t < length; ++t)
        own.insert(own.end(), &keys[place(t)], &keys[place(t)] + width);
      flash_attention::shares_of(&q[(sequence * heads + head) * width], {own.data(), width}, length,
                                 parameters.at("scale"), share);
      std::vector<double> sum(width);
      for (int t = 0; t < length; ++t)
        for (int i = 0; i < width; ++i) sum[i] += share[t] * values[place(t) + i];
      out.insert(out.end(), sum.begin(), sum.end());
    }
  store_all(buffers, "out", isa::Type::f32, out);
}

}  // namespace lockstep::reference::attention_decode
