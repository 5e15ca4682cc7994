#pragma once

#include "replay/constants.h"
#include "replay/decision.h"
#include "replay/rules.h"
#include "replay/settings.h"
#include "torch/output_code.h"

namespace cachetool::replay {

/// What torch's post-compile does with a compiled graph that was found in the cache, computed from the entry
/// alone: which callable results, what is logged and counted, what is realigned, what the boxes hold
/// afterwards, what is raised. Pure: same arguments, same Decision. Follows
/// torch/_inductor/output_code.py: CompiledFxGraph.post_compile and what it calls (2.6 to 2.15, see Rules;
/// docs/post-compile.md has the table).
///
/// `boxes` is what the caller passes in: settings_for gives the values for a graph by itself, an AOTAutograd
/// entry passes the forward's on to its backward. A field whose stored type torch never writes gives kUnknown
/// with the field's name as the reason.
Decision decide(const torch::CompiledFxGraph& graph, const ConstantSource& constants,
                const Settings& settings, const Boxes& boxes, const Rules& rules);

/// The boxes that the settings describe.
Boxes boxes_of(const Settings& settings);

/// The same for any class: CompiledAOTI and RegionalOutputCode stay plain and leave the boxes alone
/// (their post_compile does nothing about CUDA graphs); an unknown class gives kUnknown.
Decision decide(const torch::OutputCode& code, const ConstantSource& constants, const Settings& settings,
                const Boxes& boxes, const Rules& rules);

}  // namespace cachetool::replay
