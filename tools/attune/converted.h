/// Arrays of files as kernels store them: what NumPy's habits give is converted where no number is lost.
#pragma once

#include <string>

#include "tools/measure/stored_array.h"
#include "tools/npy.h"

namespace attune {

/// The array in another storage. `note`: how many numbers were rounded. `problem`: what cannot be converted.
/// Both are in words, without a file's name.
struct Converted {
  StoredArray array;
  std::string note, problem;
};

/// Reals are rounded to f32, bf16 and f16, which `note` says, but not to infinity. Integers fit or are refused, in reals too; those of 0 and 1 are
/// booleans, too; reals are never integers, nor booleans reals. Reals stored as bf16 are u16 in files. `taker` is "input 'q'".
Converted convert(const NpyArray& file, attune_storage storage, const std::string& taker);

/// How an array of the storage is kept in a file.
NpyType npy_type_of(attune_storage storage);

}  // namespace attune
