// expect: exit 1|137
// expect: error MemoryLimitExceeded|InternalError|RangeError|Error
const hold = []; for (;;) hold.push(new Uint8Array(1 << 20).fill(1));
