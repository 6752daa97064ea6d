/// What a program gives CUDA's driver to load.
#pragma once

#include <string>

namespace attune::ptx {

/// Whether an image is a fat binary, and not text.
bool is_fat_binary(const void* image);

/// The PTX of an image: the image itself, if it is text, or of the PTX in a fat binary that fits a device of the capability the most
/// special one, and nothing if none fits. The layout is as NVIDIA's fatbinary 13 writes it without compression. std::runtime_error where
/// there is no PTX.
std::string ptx_of_image(const void* image, int capability);

/// How many images of machine code a fat binary has; 0 of text.
int machine_codes_of_image(const void* image);

}  // namespace attune::ptx
