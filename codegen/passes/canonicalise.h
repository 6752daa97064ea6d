/// The pass of simplifications: one form for graphs that mean the same.
#pragma once

#include <mlir/IR/BuiltinOps.h>

namespace attune {

/// Afterwards
///   - what has only constants for operands is a constant, and `extent` of a dim whose extent is known is one too;
///   - x + 0, x - 0, x * 1, x / 1, x and true, x or false, -(-x), not not x, and select by a constant are gone;
///   - x * s * t with scalars is x * (s * t); x / c is x * (1 / c) for a constant;
///   - a factor or divisor of scores, (a b) * s, stands at a: (a * s) b, queries by depth instead of queries by keys;
///   - a sum of products as a score is one product (join_products.h);
///   - masks of scores stand outside of a concat along the keys, and weights of some keys are those of all (concat_scores.h);
///   - a function of masked scores that is 0 of minus infinity is masked itself (hidden_weights.h);
///   - a product over a merged dim is one over the dims that were merged (merged_products.h);
///   - a matmul over a sum of softmaxes, or over weights divided by their sum, is a sum or is divided itself (part_weights.h);
///   - a softmax that is written out is one (written_softmax.h), and scores over dims that are merged are scores of merged keys (merged_scores.h);
///   - rename of rename is one rename;
///   - equal operations are one, and nothing is computed that no result needs. Formulas of dims stay in attn.dims.
/// x * 0 and x - x stay: numbers may be infinite. What differs for such ones all the same is said in docs/language.md: a factor of scores goes to an
/// operand of their product, and what is hidden is not multiplied.
/// Stands after expand, because scale and mask would hide products and choices, and before form_stages, which recognises
/// stages by their form.
void canonicalise(mlir::ModuleOp module);

}  // namespace attune
