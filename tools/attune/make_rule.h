/// A rule of make, by which compilers say which files they read and build tools learn when to compile again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attune {

/// The files that the rule's target is made of, in their order.
std::vector<std::string> files_of_rule(std::string_view rule);

/// "TARGET: FILE \n FILE ...", spaces and what else means something to make escaped as GCC does.
std::string rule_of(std::string_view target, const std::vector<std::string>& files);

}  // namespace attune
