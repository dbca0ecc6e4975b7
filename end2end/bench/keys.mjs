// `keys.mjs COUNT FILE`: makes keys, writes their texts to FILE, and the SQL that puts them into a catalog to standard output.
import { createHash, randomInt } from 'node:crypto';
import { writeFileSync } from 'node:fs';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

// CRC-32 (IEEE); node's own came with 20.15.
function crc32(text) {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

function key() {
  const text = 'toll_' + Array.from({ length: 32 }, () => ALPHABET[randomInt(62)]).join('');
  let rest = crc32(text);
  let checksum = '';
  for (let digit = 0; digit < 6; digit++) {
    checksum = ALPHABET[rest % 62] + checksum;
    rest = Math.floor(rest / 62);
  }
  return text + checksum;
}

const [count, file] = process.argv.slice(2);
const keys = Array.from({ length: Number(count) }, key);
writeFileSync(file, keys.join('\n') + '\n', { mode: 0o600 });
const rows = keys.map((text) => {
  const hash = createHash('sha256').update(text).digest('hex');
  return `('\\x${hash}'::bytea, '${text.slice(0, 10)}')`;
});
console.log(`insert into api_key (partner_id, name, hash, start)
  select partner.id, 'bench', hash, start from partner, (values ${rows.join(',\n')}) as made (hash, start)
  where slug = 'bench';`);
