// A fresh QuickJS in a fresh Node: what "one process per call" costs. Runs the code given, or says hello.
import { getQuickJS } from 'quickjs-emscripten';

const context = (await getQuickJS()).newContext();
const log = context.newFunction('log', (...args) => console.log(...args.map((arg) => context.dump(arg))));
const performance = context.newObject();
context.setProp(performance, 'now', context.newFunction('now', () => context.newNumber(globalThis.performance.now())));
const console_ = context.newObject();
context.setProp(console_, 'log', log);
context.setProp(context.global, 'console', console_);
context.setProp(context.global, 'performance', performance);
context.unwrapResult(context.evalCode(process.argv[2] ?? 'console.log("hello")')).dispose();
if (process.argv[3] === 'stay') setTimeout(() => {}, 60_000);
