// expect: exit 124
// expect: error Timeout
setInterval(() => {}, 0);
