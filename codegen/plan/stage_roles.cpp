#include "codegen/plan/stage_roles.h"

#include <type_traits>

namespace attune {
namespace {

template <class Visit>
void for_each_kind(Visit visit) {
  [&]<class... Roles>(std::type_identity<std::variant<Roles...>>) { (visit(std::type_identity<Roles>{}), ...); }(std::type_identity<StageRoles>{});
}

}  // namespace

std::string_view name_of(const StageRoles& roles) {
  return std::visit([]<class Roles>(const Roles&) { return Roles::name; }, roles);
}

const AttentionRoles* attention_in(const StageRoles& any) {
  return std::visit(
      []<class Roles>(const Roles& roles) -> const AttentionRoles* {
        if constexpr (std::is_base_of_v<AttentionRoles, Roles>) return &roles;
        else return nullptr;
      },
      any);
}

std::string stage_kind_names() {
  std::string names;
  for_each_kind([&]<class Roles>(std::type_identity<Roles>) { names += (names.empty() ? "" : ", ") + std::string(Roles::name); });
  return names;
}

StageRolesAnswer find_roles(std::string_view kind, const Graph& stage) {
  StageRolesAnswer answer{std::nullopt, "stage: there is no kind '" + std::string(kind) + "'; there are " + stage_kind_names()};
  for_each_kind([&]<class Roles>(std::type_identity<Roles>) {
    if (kind != Roles::name) return;
    answer.problem = "stage '" + std::string(kind) + "': its body is no " + std::string(kind);
    if (const std::optional<Roles> found = Roles::find(stage)) {
      answer.roles.emplace(*found);
      answer.problem.clear();
    }
  });
  return answer;
}

std::vector<int> results_beside(const StageRoles& any) {
  return std::visit(
      [](const auto& roles) -> std::vector<int> {
        std::vector<int> results;
        if constexpr (requires { roles.log_sum_exp; })
          if (roles.log_sum_exp >= 0) results.push_back(roles.log_sum_exp);
        if constexpr (requires { roles.row_maximum; })
          if (roles.row_maximum >= 0) results.push_back(roles.row_maximum);
        if constexpr (requires { roles.row_total; })
          if (roles.row_total >= 0) results.push_back(roles.row_total);
        if constexpr (requires { roles.recurrence; })
          if (roles.recurrence >= 0 && roles.state >= 0) results.push_back(roles.state);
        return results;
      },
      any);
}

}  // namespace attune
