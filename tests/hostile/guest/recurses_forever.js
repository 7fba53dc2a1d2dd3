// expect: exit 1
// expect: error RangeError|InternalError
// expect: text < 8000
function f(n) { return f(n + 1) + 1; }
f(0);
