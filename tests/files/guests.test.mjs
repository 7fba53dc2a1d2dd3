// Guest programs and files: both languages, their ordinary functions, the whole tree, and their own exceptions.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, openSync, closeSync, readFileSync, symlinkSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { Program, program } from '../program.mjs';
import { callTool } from '../mcp.mjs';

// One server for all: a Python runtime takes a while to boot.
let dir, state, server, endpoint;
before(async () => {
  dir = mkdtempSync(join(tmpdir(), 'relay-guest-files-'));
  state = mkdtempSync(join(tmpdir(), 'relay-guest-state-'));
  for (const folder of ['ro', 'rw', 'rw/full/inner', 'ro/sub', 'ro/secret']) mkdirSync(join(dir, folder), { recursive: true });
  writeFileSync(join(dir, 'ro/README.md'), 'h\u00e4llo\n');
  writeFileSync(join(dir, 'ro/sub/data.csv'), 'a,b\n1,2\n3,4\n');
  writeFileSync(join(dir, 'ro/secret/key'), 'k');
  writeFileSync(join(dir, 'rw/file'), 'file');
  symlinkSync('loop', join(dir, 'rw/loop'));
  symlinkSync('/etc/passwd', join(dir, 'rw/passwd'));
  symlinkSync('README.md', join(dir, 'ro/link'));
  execFileSync('mkfifo', [join(dir, 'rw/pipe')]);
  const big = openSync(join(dir, 'ro/big'), 'w');
  writeSync(big, 'begin');
  writeSync(big, 'needle', 20 * 1024 ** 3);
  closeSync(big);
  truncateSync(join(dir, 'ro/big'), 20 * 1024 ** 3 + 6);
  const config = join(state, 'relay.config.json');
  writeFileSync(config, JSON.stringify({
    toolsets: ['code', 'files'], workspaceQuotaBytes: 8 << 20,
    mounts: [{ name: 'ro', path: join(dir, 'ro'), deny: ['secret'] }, { name: 'rw', path: join(dir, 'rw'), mode: 'rw' }],
  }));
  server = new Program(program('relay'), ['serve', '-c', config, '--bind', '127.0.0.1', '--port', '0', '--no-open', '--no-ui'], { cwd: state });
  endpoint = `${(await server.waitForLog('listening', { seconds: 120 })).url}/mcp`;
});
after(async () => {
  await server?.stop();
  await server?.assertNothingLeft();
  for (const path of [dir, state]) rmSync(path, { recursive: true, force: true });
});

async function ran(tool, code, { fails = false } = {}) {
  const result = await callTool(endpoint, tool, { code, timeoutMs: 60_000 });
  const { exitCode, stdout = '', stderr = '', error } = result.structuredContent;
  if (!fails) assert.equal(exitCode, 0, `${stdout}\n${stderr}\n${JSON.stringify(error)}`);
  return { ...result.structuredContent, usage: result._meta.usage, out: stdout.trim() };
}
const js = (code, options) => ran('run_js', code, options);
const py = (code, options) => ran('run_py', code, options);

test('JavaScript: fs and fs/promises over /host, /tmp and /out', async () => {
  const { out } = await js(`
    import fs from 'fs';
    import { readFile, writeFile, mkdir, readdir, stat, rename, rm, appendFile, copyFile, cp } from 'fs/promises';
    const say = (...all) => console.log(JSON.stringify(all));
    say(fs.readFileSync('/host/ro/README.md', 'utf8'), await readFile('/host/ro/link', 'utf8'));
    await mkdir('/tmp/js/a/b', { recursive: true });
    await writeFile('/tmp/js/a/f.txt', 'one');
    await appendFile('/tmp/js/a/f.txt', ' two');
    await copyFile('/tmp/js/a/f.txt', '/tmp/js/a/b/g.txt');
    await rename('/tmp/js/a/b/g.txt', '/out/js-result.txt');
    say(await readFile('/out/js-result.txt', 'utf8'), await readdir('/tmp/js/a'), (await stat('/out/js-result.txt')).size);
    await cp('/tmp/js', '/tmp/js-copy', { recursive: true });
    say((await readdir('/tmp/js-copy', { recursive: true })).sort(), fs.existsSync('/tmp/js-copy/a/f.txt'));
    say(fs.lstatSync('/host/ro/link').isSymbolicLink(), fs.statSync('/host/ro/link').isFile());
    const fd = fs.openSync('/tmp/js/rw', 'w+');
    fs.writeSync(fd, 'hello world'); fs.writeSync(fd, Buffer.from('J'), 0, 1, 0);
    const buffer = Buffer.alloc(5); fs.readSync(fd, buffer, 0, 5, 0); say(buffer.toString(), fs.fstatSync(fd).size); fs.closeSync(fd);
    await new Promise((done) => { const to = fs.createWriteStream('/tmp/js/stream'); for (let i = 0; i < 5; ++i) to.write('part' + i); to.end(); to.on('finish', done); });
    let text = ''; for await (const chunk of fs.createReadStream('/tmp/js/stream', { encoding: 'utf8', highWaterMark: 7 })) text += chunk;
    say(text);
    fs.writeFileSync('/host/rw/from-js', 'x'); say(fs.readFileSync('/host/rw/from-js', 'utf8'));
    await rm('/tmp/js', { recursive: true }); await rm('/tmp/js-copy', { recursive: true }); say(fs.existsSync('/tmp/js'));
  `);
  assert.deepEqual(out.split('\n').map((line) => JSON.parse(line)), [
    ['h\u00e4llo\n', 'h\u00e4llo\n'], ['one two', ['b', 'f.txt'], 7], [['a', 'a/b', 'a/f.txt'], true], [true, true],
    ['Jello', 11], ['part0part1part2part3part4'], ['x'], [false],
  ]);
  assert.equal(readFileSync(join(dir, 'rw/from-js'), 'utf8'), 'x');
});

test('Python: open, os, pathlib and shutil over /host, /tmp and /out', async () => {
  const { out } = await py(`
import os, json, shutil, pathlib, csv, tempfile, glob
def say(*all): print(json.dumps(all))
say(open('/host/ro/README.md', encoding='utf-8').read(), pathlib.Path('/host/ro/link').read_text())
say([row for row in csv.reader(open('/host/ro/sub/data.csv'))])
os.makedirs('/tmp/py/a/b')
with open('/tmp/py/a/f.txt', 'w') as f: f.write('one')
with open('/tmp/py/a/f.txt', 'a') as f: f.write(' two')
shutil.copy('/tmp/py/a/f.txt', '/tmp/py/a/b/g.txt')
os.rename('/tmp/py/a/b/g.txt', '/tmp/py/result.txt')
shutil.move('/tmp/py/result.txt', '/out/py-result.txt')
say(pathlib.Path('/out/py-result.txt').read_text(), sorted(os.listdir('/tmp/py/a')), os.stat('/out/py-result.txt').st_size)
shutil.copytree('/tmp/py', '/tmp/py-copy')
say(sorted(str(p.relative_to('/tmp/py-copy')) for p in pathlib.Path('/tmp/py-copy').rglob('*')), sorted(glob.glob('/host/ro/*.md')))
with open('/tmp/py/bin', 'wb') as f: f.write(bytes(range(256))); f.seek(10); f.write(b'XY')
with open('/tmp/py/bin', 'rb') as f: f.seek(8); say(list(f.read(5)), f.tell(), f.seek(0, 2))
os.truncate('/tmp/py/bin', 3); say(os.path.getsize('/tmp/py/bin'), os.path.isdir('/tmp/py'), os.path.exists('/tmp/none'))
say(sorted((d, sorted(s), sorted(f)) for d, s, f in os.walk('/tmp/py')))
with tempfile.NamedTemporaryFile('w+', dir='/tmp') as f: f.write('t'); f.flush(); say(os.path.exists(f.name))
pathlib.Path('/host/rw/from-py').write_text('x'); say(pathlib.Path('/host/rw/from-py').read_text())
shutil.rmtree('/tmp/py'); shutil.rmtree('/tmp/py-copy'); say(os.path.exists('/tmp/py'))
`);
  assert.deepEqual(out.split('\n').map((line) => JSON.parse(line)), [
    ['h\u00e4llo\n', 'h\u00e4llo\n'], [[['a', 'b'], ['1', '2'], ['3', '4']]], ['one two', ['b', 'f.txt'], 7],
    [['a', 'a/b', 'a/f.txt'], ['/host/ro/README.md']], [[8, 9, 88, 89, 12], 13, 256], [3, true, false],
    [[['/tmp/py', ['a'], ['bin']], ['/tmp/py/a', ['b'], ['f.txt']], ['/tmp/py/a/b', [], []]]], [true], ['x'], [false],
  ]);
});

// What is tried, in JavaScript, in Python; the errno that both must say; and the exception of Python.
const long = 'n'.repeat(300);
const errnoTable = [
  ['read what is not there', "fs.readFileSync('/tmp/none')", "open('/tmp/none')", 'ENOENT', 'FileNotFoundError'],
  ['read outside of the tree', "fs.readFileSync('/host/none/x')", "open('/host/none/x')", 'ENOENT', 'FileNotFoundError'],
  ['read what is denied', "fs.readFileSync('/host/ro/secret/key')", "open('/host/ro/secret/key')", 'EACCES', 'PermissionError'],
  ['read a pipe', "fs.readFileSync('/host/rw/pipe')", "open('/host/rw/pipe').read()", 'EACCES', 'PermissionError'],
  ['write a read-only mount', "fs.writeFileSync('/host/ro/new', 'x')", "open('/host/ro/new', 'w')", 'EROFS', 'OSError'],
  ['append to a read-only mount', "fs.appendFileSync('/host/ro/README.md', 'x')", "f = open('/host/ro/README.md', 'a'); f.write('x'); f.flush()", 'EROFS', 'OSError'],
  ['mkdir in a read-only mount', "fs.mkdirSync('/host/ro/new')", "os.mkdir('/host/ro/new')", 'EROFS', 'OSError'],
  ['remove from a read-only mount', "fs.unlinkSync('/host/ro/README.md')", "os.unlink('/host/ro/README.md')", 'EROFS', 'OSError'],
  ['a file as a directory', "fs.readFileSync('/host/rw/file/x')", "open('/host/rw/file/x')", 'ENOTDIR', 'NotADirectoryError'],
  ['list a file', "fs.readdirSync('/host/rw/file')", "os.listdir('/host/rw/file')", 'ENOTDIR', 'NotADirectoryError'],
  ['rmdir a file', "fs.rmdirSync('/host/rw/file')", "os.rmdir('/host/rw/file')", 'ENOTDIR', 'NotADirectoryError'],
  ['read a directory', "fs.readFileSync('/host/rw/full')", "open('/host/rw/full')", 'EISDIR', 'IsADirectoryError'],
  ['unlink a directory', "fs.unlinkSync('/host/rw/full')", "os.unlink('/host/rw/full')", 'EISDIR', 'IsADirectoryError'],
  ['write over a directory', "fs.writeFileSync('/host/rw/full', 'x')", "open('/host/rw/full', 'w')", 'EISDIR', 'IsADirectoryError'],
  ['mkdir over what is there', "fs.mkdirSync('/host/rw/full')", "os.mkdir('/host/rw/full')", 'EEXIST', 'FileExistsError'],
  ['create over what is there', "fs.writeFileSync('/host/rw/file', 'x', { flag: 'wx' })", "open('/host/rw/file', 'x')", 'EEXIST', 'FileExistsError'],
  ['rmdir a full directory', "fs.rmdirSync('/host/rw/full')", "os.rmdir('/host/rw/full')", 'ENOTEMPTY', 'OSError'],
  ['a name that is too long', `fs.readFileSync('/tmp/${long}')`, `open('/tmp/${long}')`, 'ENAMETOOLONG', 'OSError'],
  ['a link to itself', "fs.readFileSync('/host/rw/loop')", "open('/host/rw/loop')", 'ELOOP', 'OSError'],
  ['a link that leads out', "fs.readFileSync('/host/rw/passwd')", "open('/host/rw/passwd')", 'EXDEV', 'OSError'],
  ['rename between mounts', "fs.renameSync('/host/rw/file', '/tmp/file')", "os.rename('/host/rw/file', '/tmp/file')", 'EXDEV', 'OSError'],
  ['more than the quota', "fs.writeFileSync('/tmp/huge', new Uint8Array(9 << 20))", "f = open('/tmp/huge', 'wb'); f.write(bytes(9 << 20)); f.flush()", 'ENOSPC', 'OSError'],
  ['remove a mount', "fs.rmSync('/host/rw', { recursive: true })", "os.rmdir('/host/rw')", 'EBUSY', 'OSError'],
];

test('the errno table in JavaScript', async () => {
  const { out } = await js(`
    import fs from 'fs';
    const rows = [${errnoTable.map(([what, code]) => `[${JSON.stringify(what)}, () => ${code}]`).join(',\n')}];
    for (const [what, run] of rows) {
      try { run(); console.log(JSON.stringify([what, 'nothing was thrown'])); }
      catch (e) { console.log(JSON.stringify([what, e.code, e instanceof Error, e.message.startsWith(e.code), typeof e.syscall])); }
    }
    try { fs.rmSync('/tmp/huge') } catch {}
  `);
  assert.deepEqual(out.split('\n').map((line) => JSON.parse(line)), errnoTable.map(([what, , , errno]) => [what, errno, true, true, 'string']));
});

test('the errno table in Python', async () => {
  const { out } = await py(`
import os, errno, json
rows = json.loads(${JSON.stringify(JSON.stringify(errnoTable.map(([what, , code]) => [what, code])))})
for what, code in rows:
    try:
        exec(code)
        print(json.dumps([what, 'nothing was raised']))
    except OSError as e:
        print(json.dumps([what, errno.errorcode.get(e.errno), type(e).__name__]))
if os.path.exists('/tmp/huge'): os.unlink('/tmp/huge')
`);
  const seen = out.split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(seen, errnoTable.map(([what, , , errno, exception]) => [what, errno, exception]));
});

test('a few bytes of a 20 GB file cost a few bytes', async () => {
  const received = () => Number(readFileSync(`/proc/${server.pid}/io`, 'utf8').match(/rchar: (\d+)/)[1]);
  for (const [run, code] of [
    [js, `import fs from 'fs'; const fd = fs.openSync('/host/ro/big'); const b = Buffer.alloc(6);
      fs.readSync(fd, b, 0, 6, 20 * 1024 ** 3); console.log(b.toString(), fs.statSync('/host/ro/big').size);`],
    [py, `f = open('/host/ro/big', 'rb', buffering=0); f.seek(20 * 1024 ** 3); print(f.read(6).decode(), f.seek(0, 2))`],
    [py, `f = open('/host/ro/big', 'rb'); f.seek(20 * 1024 ** 3); print(f.read(6).decode(), f.seek(0, 2))`],
  ]) {
    const start = received();
    const { out, usage } = await run(code);
    assert.equal(out, `needle ${20 * 1024 ** 3 + 6}`);
    assert.ok(received() - start < 16 << 20, `${received() - start} bytes were read by the server`);
    assert.ok((usage.memPeakMb ?? 0) < 200);
  }
});

test('a call may bring a stricter filesystem policy, and never a wider one', async () => {
  const policy = { filesystem: { readonly: ['/host/ro/sub'], writable: ['/tmp/mine'] } };
  const code = `import fs from 'fs'; const out = [];
    for (const f of [() => fs.readFileSync('/host/ro/sub/data.csv', 'utf8').length, () => fs.readFileSync('/host/ro/README.md'), () => fs.writeFileSync('/tmp/other', 'x'), () => fs.writeFileSync('/host/ro/sub/new', 'x')])
      try { out.push(f()); } catch (e) { out.push(e.code); }
    console.log(JSON.stringify(out));`;
  const result = await callTool(endpoint, 'run_js', { code, policy });
  assert.deepEqual(JSON.parse(result.structuredContent.stdout), [12, 'EACCES', 'EACCES', 'EROFS']);
});

test('what a run leaves in /out is listed, and is a resource', async () => {
  const result = await callTool(endpoint, 'run_py', { code: "open('/out/table.csv', 'w').write('a,b\\n')" });
  assert.deepEqual(result.structuredContent.artifacts, [{ path: '/out/table.csv', bytes: 4, type: 'text/csv' }]);
  assert.equal((await callTool(endpoint, 'read', { path: '/out/table.csv' })).structuredContent.content, 'a,b\n');
});

test('a hundred reads overlap, and each gets its own bytes', async () => {
  const { out } = await js(`
    import { readFile, writeFile } from 'fs/promises';
    await Promise.all(Array.from({ length: 100 }, (_, i) => writeFile('/tmp/par' + i, String(i).repeat(1000))));
    const read = await Promise.all(Array.from({ length: 100 }, (_, i) => readFile('/tmp/par' + i, 'utf8')));
    console.log(read.every((text, i) => text === String(i).repeat(1000)));
    const fs = await import('fs'); for (let i = 0; i < 100; ++i) fs.unlinkSync('/tmp/par' + i);
  `);
  assert.equal(out, 'true');
});

test('a directory of 12,000 names is listed whole', async () => {
  mkdirSync(join(dir, 'rw/many'), { recursive: true });
  for (let i = 0; i < 12_000; ++i) closeSync(openSync(join(dir, `rw/many/${i}`), 'w'));
  assert.equal((await js("import fs from 'fs'; console.log(fs.readdirSync('/host/rw/many').length)")).out, '12000');
  assert.equal((await py("import os; print(len(os.listdir('/host/rw/many')))")).out, '12000');
});

