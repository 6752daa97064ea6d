/// Which files of a kernel are written.
#pragma once

namespace attune {

/// An object with its headers and JSON, and a shared object beside them or alone: that is for a program that opens it at once.
enum class KernelFiles { object, object_and_shared, shared };

}  // namespace attune
