// relay: one server between AI agents and everything they may touch. cli/ reads the command line, app/ builds
// the server.
#include "cli/command.h"

int main(int argc, char** argv) {
  return relay::cli::run_command(argc, argv);
}
