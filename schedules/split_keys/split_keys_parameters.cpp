#include "schedules/records/tuned.h"
#include "schedules/split_keys/split_keys.h"

namespace attune {
namespace {

constexpr std::string_view name = "split_keys";

}  // namespace

std::vector<Parameter> split_keys_parameters(const Machine& machine, SizeClass size) {
  // Memory is read at its best speed in one direction, so few keys at once and long blocks.
  return with_defaults(name, machine, size,
                       {{"split_tile", {128, 256, 512, 1024, 2048, 4096}},
                        {"key_tile", {16, 32, 64, 128, 256, 512, 1024}},
                        {"register_rows", {1, 2, 4, 8}},
                        {"row_groups", {1, 2, 4, 8}},
                        {"register_keys", {1, 2, 4, 8}},
                        {"register_vectors", {1, 2, 4, 8}},
                        {"prefetch", {0, 1, 2}}});
}

std::string split_keys_problem(const Machine& machine, const std::vector<Parameter>& values) {
  const std::vector<Parameter> declared = split_keys_parameters(machine, SizeClass::few);
  if (std::string problem = parameter_problem(name, declared, values); !problem.empty()) return problem;
  const std::vector<Parameter> all = with_values(declared, values);
  return multiple_problem(name, all, "split_tile", "key_tile");
}

/// Rows of a tile may be any queries of any head.
BlockSizes split_keys_blocks(const std::vector<Parameter>& values) {
  const std::int64_t keys = value_of(values, "key_tile");
  return {.key_tile = keys, .edge_tile = keys};
}

}  // namespace attune
