// From the command line to an exit code.
#pragma once

namespace relay::cli {

/// 0: done. 1: it did not work. 2: the command line or the configuration is wrong, or a chain is broken.
int run_command(int argc, char** argv);

}  // namespace relay::cli
