/// AnyVariant: every variant that Attune brings, the only list of them. By name: dsl/variant_by_name.h.
#pragma once

#include <variant>

#include "dsl/variants/additive.h"
#include "dsl/variants/alibi.h"
#include "dsl/variants/attention_gradients.h"
#include "dsl/variants/biased.h"
#include "dsl/variants/block_diffusion.h"
#include "dsl/variants/cached.h"
#include "dsl/variants/causal.h"
#include "dsl/variants/causal_offset.h"
#include "dsl/variants/chosen_blocks.h"
#include "dsl/variants/chosen_keys.h"
#include "dsl/variants/chunked.h"
#include "dsl/variants/cosine.h"
#include "dsl/variants/cross.h"
#include "dsl/variants/cross_entropy.h"
#include "dsl/variants/decoder_layer.h"
#include "dsl/variants/differential.h"
#include "dsl/variants/document.h"
#include "dsl/variants/embedded.h"
#include "dsl/variants/encoder_layer.h"
#include "dsl/variants/general.h"
#include "dsl/variants/generalized_delta.h"
#include "dsl/variants/global_window.h"
#include "dsl/variants/grouped_query.h"
#include "dsl/variants/l2_distance.h"
#include "dsl/variants/late_interaction.h"
#include "dsl/variants/linear_attention.h"
#include "dsl/variants/masked.h"
#include "dsl/variants/merge_partials.h"
#include "dsl/variants/mla.h"
#include "dsl/variants/multi_head.h"
#include "dsl/variants/neighbourhood.h"
#include "dsl/variants/packed_qkv.h"
#include "dsl/variants/padded.h"
#include "dsl/variants/paged.h"
#include "dsl/variants/past_present.h"
#include "dsl/variants/prefix_lm.h"
#include "dsl/variants/prob_weights.h"
#include "dsl/variants/qk_norm.h"
#include "dsl/variants/ragged.h"
#include "dsl/variants/recurrent_attention.h"
#include "dsl/variants/relative_bias.h"
#include "dsl/variants/relu_attention.h"
#include "dsl/variants/retention.h"
#include "dsl/variants/scaled_dot_product.h"
#include "dsl/variants/selective_scan.h"
#include "dsl/variants/sigmoid_attention.h"
#include "dsl/variants/single_head.h"
#include "dsl/variants/sink_logit.h"
#include "dsl/variants/sinks.h"
#include "dsl/variants/sliding_window.h"
#include "dsl/variants/soft_cap.h"
#include "dsl/variants/strided.h"
#include "dsl/variants/top_blocks.h"
#include "dsl/variants/top_keys.h"
#include "dsl/variants/torch_multi_head.h"
#include "dsl/variants/tree.h"
#include "dsl/variants/window.h"

namespace attune {

using AnyVariant = std::variant<SingleHead,        //
                                ScaledDotProduct,  //
                                Causal,            //
                                CausalOffset,      //
                                SlidingWindow,     //
                                Window,            //
                                Sinks,             //
                                Strided,           //
                                Chunked,           //
                                PrefixLm,          //
                                GlobalWindow,      //
                                Neighbourhood,     //
                                Document,          //
                                BlockDiffusion,    //
                                Tree,              //
                                ChosenBlocks,      //
                                ChosenKeys,        //
                                TopBlocks,         //
                                TopKeys,           //
                                SoftCap,           //
                                Alibi,             //
                                RelativeBias,      //
                                Biased,            //
                                Padded,            //
                                Masked,            //
                                General,           //
                                Cosine,            //
                                QkNorm,            //
                                L2Distance,        //
                                MultiHead,         //
                                GroupedQuery,      //
                                Cached,            //
                                PastPresent,       //
                                Paged,             //
                                Ragged,            //
                                PackedQkv,         //
                                Mla,               //
                                Cross,             //
                                TorchMultiHead,    //
                                EncoderLayer,      //
                                DecoderLayer,      //
                                Additive,          //
                                Embedded,          //
                                MergePartials,     //
                                SigmoidAttention,  //
                                ReluAttention,     //
                                Retention,         //
                                LinearAttention,   //
                                SinkLogit,         //
                                Differential,      //
                                ProbWeights,       //
                                RecurrentAttention,  //
                                GeneralizedDelta,    //
                                SelectiveScan,       //
                                LateInteraction,     //
                                CrossEntropy,        //
                                AttentionGradients>;

/// Calls `visit(variant)` with every variant, its parameters at their defaults, in the order of the list.
template <class Visit>
constexpr void for_each_variant(Visit visit) {
  [&]<class... V>(const std::variant<V...>*) { (visit(V{}), ...); }(static_cast<const AnyVariant*>(nullptr));
}

}  // namespace attune
