// What makes a child cheap, done once in the zygote: every page that a child writes is copied for it, and
// every page of a program that it reads is mapped again after the fork, with a fault each.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace relay::zygote {

/// Areas from here on get huge pages; smaller ones are written all over, and splitting costs more than
/// copying saved.
constexpr std::size_t kLargeArea = std::size_t{8} << 20;

/// At the very start. Without fast bins malloc never sweeps its heap, a sweep that would copy most of it in
/// each child.
void keep_heap_in_place();

/// Before the first fork: takes the holes in the heap, so that a child allocates from one fresh place and
/// leaves the rest shared.
void fill_heap_holes();

/// Before the first fork: asks for huge pages under large areas that are mostly in use. A fork then copies
/// one entry for each instead of 512, and a write in a child still copies one small page. A kernel without
/// them leaves things as they are.
Result<void> use_huge_pages();

}  // namespace relay::zygote
