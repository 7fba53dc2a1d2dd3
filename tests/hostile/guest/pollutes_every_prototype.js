// expect: exit 0|13
// expect: stdout has still here
Object.prototype.exitCode = 99;
Object.prototype.then = function () { return 99; };
Array.prototype[Symbol.iterator] = function* () { yield "forged"; };
JSON.stringify = () => "{}";
Promise.prototype.then = undefined;
String.prototype.toString = () => "forged";
Object.defineProperty = () => { throw 1; };
globalThis.Uint8Array = undefined;
console.log("still here");
