// expect: exit 124|137|1
// expect: error Timeout|MemoryLimitExceeded|RangeError|InternalError
new Array(1e9) + "";
