#include "schedules/online_softmax/online_softmax.h"
#include "schedules/records/tuned.h"

namespace attune {

std::vector<Parameter> softmax_tile_parameters(std::string_view name, const Machine& machine, SizeClass size) {
  // Sums of register_rows x register_vectors, the vectors and a broadcast fit in the registers. 4 x 4 of 32 registers were as fast as 6 x 4,
  // and 4 rows divide more tiles; 6 x 2 fill 16.
  // Blocks of middle_tile keys take what is left of key_tile before the last keys and beside masks' borders, where edge_tile <= middle_tile <
  // key_tile. All are powers of two.
  // Small calls: panels of 16 keys, so that little is padded; a key tile that still pays for its update of the state.
  return with_defaults(name, machine, size,
                       {{"query_tile", {4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 144, 192}},
                        {"key_tile", {64, 128, 256, 512, 1024}},
                        {"middle_tile", {64, 128, 256, 512, 1024}},
                        {"edge_tile", {16, 32, 64, 128}},
                        {"register_rows", {1, 2, 4, 6, 8, 12}},
                        {"register_vectors", {1, 2, 4}},
                        {"copy_values", {0, 1}},
                        {"prefetch", {0, 1, 2}}});
}

std::string softmax_tile_problem(std::string_view name, const Machine& machine, SizeClass size, const std::vector<Parameter>& values) {
  const std::vector<Parameter> declared = softmax_tile_parameters(name, machine, size);
  if (std::string problem = parameter_problem(name, declared, values); !problem.empty()) return problem;
  const std::vector<Parameter> all = with_values(declared, values);
  if (std::string problem = multiple_problem(name, all, "query_tile", "register_rows"); !problem.empty()) return problem;
  if (std::string problem = multiple_problem(name, all, "key_tile", "edge_tile"); !problem.empty()) return problem;
  const std::int64_t lanes = machine.vector_bytes / 4, vectors = value_of(all, "register_vectors"), edge = value_of(all, "edge_tile");
  if (edge % (vectors * lanes) == 0) return {};
  return "schedule '" + std::string(name) + "': edge_tile = " + std::to_string(edge) + " is not a multiple of the " + std::to_string(vectors * lanes) +
         " keys of register_vectors = " + std::to_string(vectors) + " vectors of " + std::to_string(lanes);
}

std::vector<Parameter> online_softmax_parameters(const Machine& machine, SizeClass size) { return softmax_tile_parameters("online_softmax", machine, size); }

std::string online_softmax_problem(const Machine& machine, const std::vector<Parameter>& values) {
  return softmax_tile_problem("online_softmax", machine, SizeClass::large, values);
}

int online_softmax_registers(const Machine&, const std::vector<Parameter>& values) {
  const std::int64_t vectors = value_of(values, "register_vectors");
  return static_cast<int>(value_of(values, "register_rows") * vectors + vectors + 1);  // sums, keys or values, and an element of the other factor in all lanes
}

BlockSizes online_softmax_blocks(const std::vector<Parameter>& values) {
  return {value_of(values, "query_tile"), value_of(values, "register_rows"), value_of(values, "key_tile"), value_of(values, "edge_tile")};
}

}  // namespace attune
