// Modules imported before the fork: every child inherits them, so `import json` costs a dictionary look-up.

export const IMPORTS = `
import abc, argparse, array, ast, asyncio, base64, binascii, bisect, calendar, cmath, collections, collections.abc, colorsys, configparser
import contextlib, contextvars, copy, csv, dataclasses, datetime, decimal, difflib, enum, errno, fnmatch, fractions, functools, gc, glob
import gzip, hashlib, heapq, hmac, html, html.parser, http.client, importlib, inspect, io, ipaddress, itertools, json, keyword, linecache
import logging, math, mimetypes, numbers, operator, os, pathlib, pickle, platform, pprint, queue, random, re, sched, secrets, shlex, shutil
import signal, stat, statistics, string, struct, sys, tempfile, textwrap, threading, time, timeit, tokenize, traceback, types, typing
import unicodedata, urllib.error, urllib.parse, urllib.request, uuid, warnings, weakref, xml.etree.ElementTree, zipfile, zlib, zoneinfo
`;

/**
 * Our own modules get a copy of the built-ins: a program that replaces `print` or `len` breaks itself and not the report of
 * how it ended. The copy is made when the module is made, before any guest code.
 */
export const LIBRARY_LOADER = `
import builtins, importlib.machinery, os, sys, types

class RelayLoader(importlib.machinery.SourceFileLoader):
    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__dict__["__builtins__"] = dict(vars(builtins))
        return module

class RelayFinder:
    root = "/lib/relay"

    def find_spec(self, name, path=None, target=None):
        base = self.root + "/" + name.replace(".", "/")
        for file, folder in ((base + ".py", None), (base + "/__init__.py", [base])):
            if os.path.exists(file):
                spec = importlib.machinery.ModuleSpec(name, RelayLoader(name, file), origin=file, is_package=folder is not None)
                spec.has_location = True
                if folder:
                    spec.submodule_search_locations = folder
                return spec
        return None

sys.meta_path.insert(0, RelayFinder())
sys.path.append("/lib/tzdata.zip")
`;
