// expect: exit 124
// expect: error Timeout
while (true) {}
