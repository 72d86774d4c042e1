import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openApiTypes } from './openapi-types.ts';

/**
 * Writes the client types (`npm run generate -- client`). A test fails if the committed types differ from the OpenAPI
 * document.
 */
const path = fileURLToPath(new URL('../../client/openapi-types.ts', import.meta.url));
writeFileSync(path, await openApiTypes(path));
