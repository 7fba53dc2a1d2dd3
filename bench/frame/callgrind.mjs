// Reads what callgrind wrote and says which part of the program spent the instructions.
// A function's instructions count for the folder of its own source file, also where a header was inlined into it. Calls
// into libraries that never call back (hashing, JSON, formatting, memory) count for the folder that made them.

const leafObject = /lib(crypto|c|m|stdc\+\+|gcc_s|re2|z|fmt|boost_json)[.\-\d]/;
const leafFunction = /^(boost::json::|fmt::|spdlog::|re2::|std::(?!coroutine)|operator (new|delete)|mem(cpy|move|set|cmp)|malloc|free|prometheus::)/;

function partOf({ file, object, name }) {
  const own = /(?:^|\/)src\/([a-z_]+)\//.exec(file);
  if (own && !file.startsWith('/usr/')) return `src/${own[1]}`;
  if (leafObject.test(object) || leafFunction.test(name)) return 'leaf';
  if (/boost\/(asio|beast)/.test(file) || /^boost::(asio|beast)/.test(name)) return 'asio and beast';
  return 'other';
}

class Names {
  #known = new Map();
  resolve(text) {
    const [, id, name] = /^\((\d+)\)(?: (.*))?$/.exec(text) ?? [, text, text];
    if (name !== undefined) this.#known.set(id, name);
    return this.#known.get(id) ?? '';
  }
}

// Instructions by part, from the text of one callgrind.out file.
export function partsOf(text) {
  const [files, functions, objects] = [new Names(), new Names(), new Names()];
  const costs = new Map();
  const spend = (part, cost) => costs.set(part, (costs.get(part) ?? 0) + cost);
  const here = { object: '', file: '', name: '' };
  let callee;
  let part = 'other';
  let isCall = false;
  for (const line of text.split('\n')) {
    const [, key, value] = /^(ob|fl|fn|cob|cfi|cfl|cfn|calls|fi|fe)=(.*)$/.exec(line) ?? [];
    if (key === 'ob') here.object = objects.resolve(value);
    else if (key === 'fl') here.file = files.resolve(value);
    else if (key === 'fi' || key === 'fe') files.resolve(value);
    else if (key === 'fn') part = partOf(Object.assign(here, { name: functions.resolve(value) }));
    else if (key?.startsWith('c') && key !== 'calls') {
      callee ??= { object: here.object, file: here.file, name: '' };
      if (key === 'cob') callee.object = objects.resolve(value);
      else if (key === 'cfn') callee.name = functions.resolve(value);
      else callee.file = files.resolve(value);
    } else if (key === 'calls') isCall = true;
    else if (/^[+\-*\d]/.test(line)) {
      const cost = Number(line.split(' ')[1] ?? 0);
      if (isCall) {
        if (part.startsWith('src/') && partOf(callee) === 'leaf') spend(part, cost);
        [isCall, callee] = [false, undefined];
      } else if (part !== 'leaf') spend(part, cost);
    }
  }
  return costs;
}

export const totalOf = (text) => Number(/^(?:totals|summary): (\d+)/m.exec(text)?.[1] ?? 0);
