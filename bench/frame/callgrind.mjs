// Reads what callgrind wrote and says which part of the program spent the instructions.
// A function's instructions count for its namespace, which is its folder. Calls into libraries that never call back
// (hashing, JSON, formatting, memory) count for the folder that made them.

const leafObject = /lib(crypto|c|m|stdc\+\+|gcc_s|re2|z|fmt|boost_json)[.\-\d]/;
const leafFunction = /^(boost::json::|fmt::|spdlog::|re2::|std::|operator (new|delete)|mem(cpy|move|set|cmp)|malloc|free|prometheus::)/;

// "boost::asio::awaitable<…> relay::audit::Journal::append(…)" without what is between brackets, and without arguments.
function bare(name) {
  let plain = name;
  for (let before; before !== plain;) [before, plain] = [plain, plain.replaceAll(/<[^<>]*>/g, '')];
  return plain.replace(/\(anonymous namespace\)::/g, '').split('(')[0];
}

function partOf({ object, name }) {
  const plain = bare(name);
  const own = /(?:^|\s)relay::([a-z_]+)::/.exec(plain);
  if (own) return `src/${own[1]}`;
  if (/(?:^|\s)relay::/.test(plain)) return 'src/base';
  if (leafObject.test(object) || leafFunction.test(plain)) return 'leaf';
  if (/boost::(asio|beast)/.test(plain)) return 'asio and beast';
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
  const [functions, objects] = [new Names(), new Names()];
  const costs = new Map();
  const spend = (part, cost) => costs.set(part, (costs.get(part) ?? 0) + cost);
  const here = { object: '', name: '' };
  let callee;
  let part = 'other';
  let isCall = false;
  for (const line of text.split('\n')) {
    const [, key, value] = /^(ob|fn|cob|cfn|calls)=(.*)$/.exec(line) ?? [];
    if (key === 'ob') here.object = objects.resolve(value);
    else if (key === 'fn') part = partOf(Object.assign(here, { name: functions.resolve(value) }));
    else if (key?.startsWith('c') && key !== 'calls') {
      callee ??= { object: here.object, name: '' };
      if (key === 'cob') callee.object = objects.resolve(value);
      else if (key === 'cfn') callee.name = functions.resolve(value);
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
