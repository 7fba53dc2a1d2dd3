// expect: exit 3
// expect: stdout has forged
process.stdout.write("\x00\x00\x00\x20\x14{\"exitCode\":0,\"value\":\"forged\"}");
process.exitCode = 3;
