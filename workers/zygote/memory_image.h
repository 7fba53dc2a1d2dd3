// The zygote's memory as a file: what fork need not copy.
//
// A fork copies the page table entry of every page in private memory, used by the child or not, and the end
// of the child takes each of them away again: half of what a short run costs. Pages of a file are another
// matter. They need no entry, because a fault finds them again. So the zygote's memory, once it is as every
// child wants it, is moved into a file in memory that is mapped in its place, privately; and of that, and of
// the programs' own files, only those pages stay mapped that runs really read.
#pragma once

#include <functional>

#include "base/result.h"

namespace relay::zygote {

/// After boot, before the last practice: unmaps the pages of programs, so that those mapped afterwards are
/// what runs need and not what booting needed.
Result<void> forget_program_pages();

/// After that, before the first fork: moves private memory into a sealed file and maps it where it was. Areas
/// that cannot be moved stay what they are, and so do large ones, which have huge pages.
Result<void> move_into_image();

/// After that, before the walls: unmaps every page of a file that a trial child did not read, and makes fork
/// copy the entries of the others, which it leaves out for mappings that were never written to.
Result<void> keep_pages_that_runs_read(const std::function<Result<void>()>& trial);

}  // namespace relay::zygote
