// expect: exit 1|137
// expect: error OutOfMemory|InternalError|RangeError|Error
const hold = []; for (;;) hold.push(new Uint8Array(1 << 20).fill(1));
