/// print_features: prints those features of the x86-64 targets that this CPU has, for runs under emulators of other CPUs.
#include <array>
#include <iostream>
#include <string_view>

#include "runtime/cpu.h"

int main() {
  constexpr std::array<std::string_view, 9> features = {"sse4.2",  "avx2",     "fma",      "f16c",      "bmi2",
                                                        "avx512f", "avx512bw", "avx512vl", "avx512bf16"};
  std::cout << "features:";
  for (const std::string_view feature : features)
    if (attune::this_machine().has_feature(feature)) std::cout << ' ' << feature;
  std::cout << std::endl;
}
