/// The masks of a kernel as pictures: what its softmaxes see in a call, and the blocks that its schedules visit.
#pragma once

#include <string>

#include "tools/attune/masked_call.h"
#include "tools/picture/mask_picture.h"

namespace attune {

/// Which of the dims beside queries and keys are drawn: "" the first position of each, "batch=1,heads=2" these and the first of the others, "all" a
/// panel for each that looks different.
struct MaskPictureAnswer {
  MaskPicture picture;  ///< without panels where nothing is masked
  std::string problem;  ///< in words
};
MaskPictureAnswer mask_picture(const Prepared& prepared, const KernelReport& report, const MaskedCall& call, const std::string& places,
                               bool has_blocks = true);

}  // namespace attune
