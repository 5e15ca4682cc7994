#pragma once

#include <cstdint>
#include <optional>

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

/// What a backward that is decided by itself finds, since torch looks for it when it is called: its forward
/// has run, so it has left its device in the box (taken to be the first of the backward's own, unless the box
/// is the entry's or was given) and there is a manager, unless that was given. Changes nothing for other
/// graphs. Returns the device that was taken for granted.
std::optional<std::int64_t> assume_forward_ran(const torch::CompiledFxGraph& graph, const Rules& rules,
                                               Settings& settings, Boxes& boxes);

/// `decide` for any class: CompiledAOTI and RegionalOutputCode stay plain and leave the boxes alone
/// (their post_compile does nothing about CUDA graphs); an unknown class gives kUnknown.
Decision decide(const torch::OutputCode& code, const ConstantSource& constants, const Settings& settings,
                const Boxes& boxes, const Rules& rules);

}  // namespace cachetool::replay
