#pragma once

#include <span>

#include "pickle/policy_rules.h"
#include "pickle/value.h"

namespace cachetool::pickle {

/// A number, boolean, None or text.
bool is_scalar(const Value& value);

/// True when a constructor whose rule asks for `shape` may be given these arguments.
bool fits(Shape shape, std::span<const Value> args);

/// What a pickle may call although it isn't a name: `maker` is the result of another call that torch applies,
/// in one form only (a bound method that rebuilds data, a type or partial that is looked up); `call` applies
/// it.
bool may_be_called(const ObjectNode& maker, const ObjectNode& call);

}  // namespace cachetool::pickle
