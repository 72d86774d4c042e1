import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { openApiDocument } from '../../../adapters/openapi/document.ts';
import { openTemporaryFolder } from '../../../cli/temporary-folder.ts';

/**
 * `npm run check -- openapi`: validates the document with Redocly's strict recommended rules, examples included. Makes
 * no network request.
 */

const require = createRequire(import.meta.url);
using folder = openTemporaryFolder('watchpost-openapi-');
const file = join(folder.path, 'openapi.json');
writeFileSync(file, JSON.stringify(openApiDocument('https://watchpost.invalid/api'), null, 2));
const redocly = require.resolve('@redocly/cli/bin/cli.js');
const { status } = spawnSync(process.execPath, [redocly, 'lint', file, '--config', 'redocly.yaml'], {
  stdio: 'inherit',
  env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
});
process.exitCode = status ?? 1;
