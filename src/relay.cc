// relay: one server between AI agents and everything they may touch. See app/ for everything.
#include "app/command.h"

int main(int argc, char** argv) {
  return relay::app::run_command(argc, argv);
}
