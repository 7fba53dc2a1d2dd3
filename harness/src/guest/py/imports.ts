// Modules imported before the fork: every child inherits them, so `import json` costs a dictionary look-up.

export const IMPORTS = `
import abc, argparse, array, ast, asyncio, base64, binascii, bisect, calendar, cmath, collections, collections.abc, colorsys, configparser
import contextlib, contextvars, copy, csv, dataclasses, datetime, decimal, difflib, enum, errno, fnmatch, fractions, functools, gc, glob
import gzip, hashlib, heapq, hmac, html, html.parser, http.client, importlib, inspect, io, ipaddress, itertools, json, keyword, linecache
import logging, math, mimetypes, numbers, operator, os, pathlib, pickle, platform, pprint, queue, random, re, sched, secrets, shlex, shutil
import signal, stat, statistics, string, struct, sys, tempfile, textwrap, threading, time, timeit, tokenize, traceback, types, typing
import unicodedata, urllib.error, urllib.parse, urllib.request, uuid, warnings, weakref, xml.etree.ElementTree, zipfile, zlib, zoneinfo
`;
