// Writes a gzip file beside each file of the built page that compresses; the server sends that
// form: `node compress.mjs [dist]`.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';

const [dist = 'dist'] = process.argv.slice(2);
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !/\.(html|js|css|svg|json|webmanifest|txt)$/.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const plain = readFileSync(path);
  const small = gzipSync(plain, { level: constants.Z_BEST_COMPRESSION });
  if (small.length < plain.length) writeFileSync(`${path}.gz`, small);
}
