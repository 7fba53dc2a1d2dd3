// `relay doctor` on the network and the surroundings: registries, certificates, proxies, esbuild, a chroot.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { run, temporaryDirectory } from '../program.mjs';

const nowhere = 'http://127.0.0.1:9/';
const unset = { SSL_CERT_FILE: '', SSL_CERT_DIR: '', NODE_EXTRA_CA_CERTS: '', REQUESTS_CA_BUNDLE: '', CURL_CA_BUNDLE: '' };

async function findings(t, env, ...flags) {
  const { code, stdout } = await run('relay', ['doctor', '--json', ...flags], { cwd: temporaryDirectory(t), env: { ...unset, ...env } });
  return { code, find: (name) => JSON.parse(stdout).findings.find((one) => one.name === name) };
}

test('a registry that cannot be reached is named with the command that shows why', async (t) => {
  const { code, find } = await findings(t, { npm_config_registry: nowhere, NPM_CONFIG_REGISTRY: nowhere, PIP_INDEX_URL: nowhere, PIP_FIND_LINKS: '' });
  assert.equal(code, 0, 'Relay works without packages');
  for (const [name, command] of [['npm registry', 'npm view npm version'], ['pip index', 'pip3 index versions pip']]) {
    const found = find(name);
    if (!found) continue; // that program is not on this machine
    assert.equal(found.health, 'optional');
    assert.ok(found.detail.includes(`\`${command}\` shows why`), found.detail);
  }
});

test('--offline asks no registry', async (t) => {
  const { find } = await findings(t, {}, '--offline');
  assert.equal(find('npm registry') ?? find('pip index'), undefined);
});

test('a variable that names certificates which are not there is a problem', async (t) => {
  const empty = join(temporaryDirectory(t), 'empty.pem');
  writeFileSync(empty, 'no certificate');
  const { code, find } = await findings(t, { SSL_CERT_FILE: '/no/such/file.pem', NODE_EXTRA_CA_CERTS: empty, SSL_CERT_DIR: '/no/such/directory' }, '--offline');
  assert.equal(code, 1);
  for (const [name, says] of [['SSL_CERT_FILE', '/no/such/file.pem'], ['NODE_EXTRA_CA_CERTS', 'holds no certificate'], ['SSL_CERT_DIR', 'no directory']]) {
    assert.equal(find(name).health, 'missing', name);
    assert.ok(find(name).detail.includes(says), find(name).detail);
  }
});

test('proxies are shown without their passwords', async (t) => {
  const { find } = await findings(t, { https_proxy: 'http://ann:sesame@proxy.example:3128' }, '--offline');
  assert.equal(find('https_proxy').detail, 'http://***@proxy.example:3128');
});

test('esbuild is found', async (t) => {
  const { find } = await findings(t, {}, '--offline');
  assert.equal(find('esbuild').health, 'ok');
});

test('a chroot is named as the reason why there are no namespaces', { skip: process.getuid() !== 0 && 'needs root' }, async (t) => {
  const cwd = temporaryDirectory(t);
  const enter = 'set -e; mkdir root; for d in /*; do [ -L "$d" ] && cp -P "$d" root/ && continue; [ -d "$d" ] || continue; mkdir "root$d"; mount --rbind "$d" "root$d"; done; exec chroot root "$@"';
  const { code, stdout, stderr } = await run('relay', ['doctor', '--json', '--offline'], { cwd, wrap: ['unshare', '-m', '--propagation', 'private', 'sh', '-c', enter, 'sh'], env: unset });
  assert.equal(code, 1, stderr);
  const { health, detail } = JSON.parse(stdout).findings.find(({ name }) => name === 'user namespace');
  assert.equal(health, 'missing');
  assert.match(detail, /this is a chroot/);
});
