/// What a program gives CUDA's driver to load.
#pragma once

#include <string>

namespace attune::ptx {

/// The PTX of an image: the image itself, if it is text, or the PTX in a fat binary, whose layout is as NVIDIA's fatbinary 13 writes it without
/// compression. std::runtime_error where there is none.
std::string ptx_of_image(const void* image);

/// How many images of machine code a fat binary has; 0 of text.
int machine_codes_of_image(const void* image);

}  // namespace attune::ptx
