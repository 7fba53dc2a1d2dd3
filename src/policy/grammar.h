// The sentences with which a call is refused, as clients and models know them. Scripts match on the brackets,
// so the shape is fixed: `[DENIED tier N (NAME): reason]`.
#pragma once

#include <string>

#include "authority/decision.h"
#include "policy/broker.h"

namespace relay::policy {

std::string denied_text(const authority::Decision& decision);
/// Says what has to happen before the same call can run: the operator's approval, or operation_confirm where
/// agents may confirm.
std::string confirm_required_text(const authority::Decision& decision, const Challenge& challenge);
/// A person was asked and did not agree.
std::string declined_text(const authority::Decision& decision, ConfirmationAnswer answer);
std::string timeout_text(std::chrono::seconds after);
std::string error_text(const Error& error);

/// The answers of operation_confirm.
std::string armed_text();
std::string not_armed_text();

}  // namespace relay::policy
