#pragma once

// Reference of the workload black_scholes, in double precision with the exact normal distribution.

#include <cmath>
#include <numbers>

#include "tests/references/buffers.hpp"

namespace lockstep::reference::black_scholes {

inline double normal_distribution(double d) {
  return 0.5 * std::erfc(-d / std::numbers::sqrt2);
}

inline void run(const Parameters& parameters, Buffers& buffers) {
  const double rate = parameters.at("rate"), volatility = parameters.at("volatility");
  const auto call = buffers.as<float>("call"), put = buffers.as<float>("put");
  for (std::size_t i = 0; i < call.size(); ++i) {
    const double price = buffers.as<float>("price")[i], years = buffers.as<float>("years")[i];
    const double strike = buffers.as<float>("strike")[i];
    const double spread = volatility * std::sqrt(years);
    const double drift = (rate + 0.5 * volatility * volatility) * years;
    const double d1 = (std::log(price / strike) + drift) / spread;
    const double d2 = d1 - spread;
    const double discounted = strike * std::exp(-rate * years);
    call[i] =
        static_cast<float>(price * normal_distribution(d1) - discounted * normal_distribution(d2));
    put[i] = static_cast<float>(discounted * normal_distribution(-d2) -
                                price * normal_distribution(-d1));
  }
}

}  // namespace lockstep::reference::black_scholes
