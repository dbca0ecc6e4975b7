// `node screens-table.mjs N.tsv …`: what screens.mjs measured with N requests each, side by side. Fails above the limit.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';

const limit = 50;
const runs = process.argv.slice(2)
  .map((file) => [Number(basename(file, '.tsv')), new Map(readFileSync(file, 'utf8').trim().split('\n').map((line) => {
    const [path, ...times] = line.split('\t');
    return [path, times];
  }))])
  .sort(([a], [b]) => a - b);
const paths = [...new Set(runs.flatMap(([, screens]) => [...screens.keys()]))];
const wide = Math.max(...paths.map((path) => path.length)) + 2;

console.log('\nmilliseconds of the server for a screen, 30 days of 1,000 keys: median (95th percentile)\n');
console.log('screen'.padEnd(wide) + runs.map(([n]) => `${n.toLocaleString('en')} requests`.padStart(22)).join(''));
const slow = [];
for (const path of paths) {
  const cells = runs.map(([n, screens]) => {
    const [median, p95] = screens.get(path) ?? ['–', '–'];
    if (Number(median) > limit) slow.push(`${path} with ${n.toLocaleString('en')} requests`);
    return `${median} (${p95})`.padStart(22);
  });
  console.log(path.padEnd(wide) + cells.join(''));
}
if (slow.length) {
  console.error(`\nbench: over ${limit} ms: ${slow.join(', ')}`);
  process.exit(1);
}
