// expect: exit 1
// expect: text < 10000
throw { get message() { throw this; }, get stack() { throw this; }, toString() { throw this; } };
