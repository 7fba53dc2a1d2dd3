// The URL extension has no `searchParams` and its URLSearchParams takes only text. Both are completed here: a live view
// whose changes are written back to the URL, and records, maps and pairs as initial values.

import { defineProperty, hide, uncurry } from "./primordials";

interface View {
  params: any;
  search: string;
}

const views = new WeakMap<object, View>();
const CHANGING = ["append", "delete", "set", "sort"];
const get = uncurry(WeakMap.prototype.get) as (map: object, key: object) => View | undefined;
const set = uncurry(WeakMap.prototype.set) as (map: object, key: object, view: View) => void;

function viewOf(url: any): URLSearchParams {
  const known = get(views, url);
  if (known && known.search === url.search) return known.params;
  const params = new URLSearchParams(url.search) as any;
  const view = { params, search: url.search };
  for (const name of CHANGING) {
    const native = params[name];
    const changed = (...args: unknown[]) => {
      const result = native.apply(params, args);
      url.search = params.toString();
      view.search = url.search;
      return result;
    };
    defineProperty(params, name, { value: changed, configurable: true, writable: true, enumerable: false });
  }
  set(views, url, view);
  return params;
}

const Native = URLSearchParams as any;

function pairsOf(init: any): [unknown, unknown][] {
  return typeof init[Symbol.iterator] === "function" ? [...init] : Object.entries(init);
}

class SearchParams extends Native {
  constructor(init?: any) {
    const given = typeof init === "object" && init !== null;
    super(given ? "" : init === undefined ? "" : String(init));
    if (given) for (const [name, value] of pairsOf(init)) (this as any).append(String(name), String(value));
  }
}
defineProperty(SearchParams, "name", { value: "URLSearchParams" });

export function installUrl(): void {
  hide(globalThis, "URLSearchParams", SearchParams);
  if ("searchParams" in URL.prototype) return;
  defineProperty(URL.prototype, "searchParams", {
    get() {
      return viewOf(this);
    },
    configurable: true,
    enumerable: true,
  });
}
