// Makes target/site from what cargo, style/ and public/ hold: `node end2end/setup/site.mjs`.
//
// Names under pkg/ carry a hash of their content, so that a browser may keep them for a year; assets.json tells the
// server which name is the current one. Everything lies there compressed as well, so that nothing is compressed twice.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { build } from 'esbuild';

const setup = dirname(fileURLToPath(import.meta.url));
const root = resolve(setup, '../..');
const work = join(root, 'target/site-build');
const site = join(root, 'target/site');
const next = join(root, 'target/site.next');
const tools = join(root, 'end2end/node_modules/.bin');

const digest = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
const run = (program, ...args) => execFileSync(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });

// The slow step, so it is kept while the module stays the same.
function wasm() {
  const source = join(root, 'target/wasm32-unknown-unknown/wasm-release/frontend.wasm');
  const stamp = join(work, 'wasm.stamp');
  const now = digest(readFileSync(source));
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== now) {
    rmSync(work, { recursive: true, force: true });
    mkdirSync(work, { recursive: true });
    run('wasm-bindgen', '--target', 'web', '--no-typescript', '--out-name', 'toll', '--out-dir', work, source);
    run(join(tools, 'wasm-opt'), '-Oz', '-o', join(work, 'toll.wasm'), join(work, 'toll_bg.wasm'));
    writeFileSync(stamp, now);
  }
  return readFileSync(join(work, 'toll.wasm'));
}

async function bundle(entry, extra) {
  const target = ['chrome111', 'firefox114', 'safari16.4'];
  const done = await build({ entryPoints: [entry], bundle: true, minify: true, write: false, target, legalComments: 'none', logLevel: 'warning', nodePaths: [join(root, 'end2end/node_modules')], ...extra });
  return done.outputFiles[0].contents;
}

function compress(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !['.js', '.css', '.wasm', '.svg', '.txt'].includes(extname(entry.name))) continue;
    const file = join(entry.parentPath ?? entry.path, entry.name);
    const bytes = readFileSync(file);
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }));
  }
}

rmSync(next, { recursive: true, force: true });
mkdirSync(join(next, 'pkg'), { recursive: true });
cpSync(join(root, 'public'), next, { recursive: true });

const assets = {};
const put = (name, ending, bytes) => {
  assets[`${name}_${ending}`] = `/pkg/${name}.${digest(bytes)}.${ending}`;
  writeFileSync(join(next, assets[`${name}_${ending}`]), bytes);
  return bytes.length;
};
put('toll', 'wasm', wasm());
put('toll', 'js', await bundle(join(work, 'toll.js'), { format: 'esm' }));
put('toll', 'css', await bundle(join(root, 'style/main.css'), { loader: { '.svg': 'dataurl' } }));
put('echarts', 'js', await bundle(join(setup, 'echarts.js'), { format: 'iife' }));
compress(next);
writeFileSync(join(next, 'assets.json'), `${JSON.stringify(assets, null, 2)}\n`);

rmSync(site, { recursive: true, force: true });
renameSync(next, site);

const wasmFile = join(site, assets.toll_wasm);
const kb = (file) => `${Math.round(readFileSync(file).length / 1000)} kB`;
console.log(`site: wasm ${kb(wasmFile)}, ${kb(`${wasmFile}.gz`)} gzip, ${kb(`${wasmFile}.br`)} brotli`);
