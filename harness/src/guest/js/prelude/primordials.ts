// The built-ins as they were before any guest code ran. The paths that report a run's result use only these, so a
// program that replaces JSON.stringify or Array.prototype.push breaks its own code and not ours.

const { call } = Function.prototype;
type Uncurried<F> = F extends (this: any, ...args: infer A) => infer R ? (self: any, ...args: A) => R : never;
export const uncurry = (call.bind as any).bind(call) as <F>(fn: F) => Uncurried<F>;

export const jsonStringify = JSON.stringify;
export const jsonParse = JSON.parse;
export const objectKeys = Object.keys;
export const getOwnPropertyNames = Object.getOwnPropertyNames;
export const getOwnPropertySymbols = Object.getOwnPropertySymbols;
export const getOwnPropertyDescriptor = Object.getOwnPropertyDescriptor;
export const getPrototypeOf = Object.getPrototypeOf;
export const defineProperty = Object.defineProperty;
export const create = Object.create;
export const assign = Object.assign;
export const isArray = Array.isArray;
export const hasOwn = Object.hasOwn as (value: object, key: PropertyKey) => boolean;
export const isInteger = Number.isInteger;
export const isFinite = Number.isFinite;
export const { min, max, floor, ceil, trunc } = Math;
export const dateNow = Date.now;
export const NativePromise = Promise;
export const NativeError = Error;
export const NativeProxy = Proxy;
export const NativeUint8Array = Uint8Array;
export const { ownKeys, apply, construct } = Reflect;

export const join = uncurry(Array.prototype.join) as (list: unknown[], separator: string) => string;
export const slice = uncurry(Array.prototype.slice) as <T>(list: ArrayLike<T>, from?: number, to?: number) => T[];
export const sort = uncurry(Array.prototype.sort) as <T>(list: T[], by?: (a: T, b: T) => number) => T[];
export const stringSlice = uncurry(String.prototype.slice);
export const indexOf = uncurry(String.prototype.indexOf);
export const split = uncurry(String.prototype.split) as unknown as (text: string, separator: string) => string[];
export const startsWith = uncurry(String.prototype.startsWith);
export const endsWith = uncurry(String.prototype.endsWith);
export const repeat = uncurry(String.prototype.repeat);
export const padEnd = uncurry(String.prototype.padEnd);
export const charCodeAt = uncurry(String.prototype.charCodeAt);
export const replaceText = uncurry(String.prototype.replace) as (text: string, what: RegExp, by: any) => string;
export const toText = String;
export const regexTest = uncurry(RegExp.prototype.test);
export const regexExec = uncurry(RegExp.prototype.exec);
export const regexText = uncurry(RegExp.prototype.toString);
export const dateText = uncurry(Date.prototype.toISOString);
export const dateValue = uncurry(Date.prototype.getTime);
export const promiseThen = uncurry(Promise.prototype.then) as (promise: unknown, done: any, failed?: any) => Promise<any>;
export const mapForEach = uncurry(Map.prototype.forEach) as (map: unknown, fn: (value: unknown, key: unknown) => void) => void;
export const setForEach = uncurry(Set.prototype.forEach) as (set: unknown, fn: (value: unknown) => void) => void;
export const functionText = uncurry(Function.prototype.toString);
export const objectText = uncurry(Object.prototype.toString);
export const symbolText = uncurry(Symbol.prototype.toString);
export const byteLength = getter(getPrototypeOf(Uint8Array.prototype), "byteLength") as (self: unknown) => number;
export const arrayBufferLength = getter(ArrayBuffer.prototype, "byteLength") as (self: unknown) => number;
export const mapSize = getter(Map.prototype, "size") as (self: unknown) => number;
export const setSize = getter(Set.prototype, "size") as (self: unknown) => number;
export const typedTag = getter(getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag) as (self: unknown) => string | undefined;

function getter(prototype: object, name: PropertyKey): (self: unknown) => unknown {
  return uncurry(getOwnPropertyDescriptor(prototype, name)!.get!) as (self: unknown) => unknown;
}

/** Appends without Array.prototype: an index setter there could not be called for a dense array we made. */
export function push<T>(list: T[], item: T): void {
  defineProperty(list, list.length, { value: item, writable: true, enumerable: true, configurable: true });
}

export function hide(target: object, name: PropertyKey, value: unknown): void {
  defineProperty(target, name, { value, writable: true, enumerable: false, configurable: true });
}

const encoder = new TextEncoder();
const encode = uncurry(TextEncoder.prototype.encode);
const decode = uncurry(TextDecoder.prototype.decode);
const NativeDecoder = TextDecoder;
export const utf8 = (text: string): Uint8Array => encode(encoder, text);
export const fromUtf8 = (bytes: Uint8Array): string => decode(new NativeDecoder(), bytes);
