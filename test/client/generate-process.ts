import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openApiTypes } from './openapi-types.ts';

/** `npm run generate:client`: after a change of the interface. A test fails while the committed types are not the document's. */
const path = fileURLToPath(new URL('../../client/openapi-types.ts', import.meta.url));
writeFileSync(path, await openApiTypes(path));
