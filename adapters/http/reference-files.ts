import { createRequire } from 'node:module';

/**
 * Files of the reference page at `/docs`: Swagger UI from its npm package, so that it works offline. Both hosts serve
 * them.
 */

const require = createRequire(import.meta.url);

/** Allows no other origin and no inline script. Swagger UI's style sheet contains `data:` images. */
export const referencePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The page, whose files are below `/docs/`. */
export const referencePage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Watchpost: API reference</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css" />
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
  </head>
  <body>
    <p><a href="/console">Console</a> · <a href="/openapi.json">OpenAPI document</a></p>
    <div id="reference"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/show-reference.js"></script>
  </body>
</html>
`;

/**
 * Script that starts Swagger UI. Without `validatorUrl: null` the page sends the document's address to a validator on
 * the internet.
 */
const showReference = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  validatorUrl: null,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
});
`;

/** Files of the package that the page loads, with their paths. */
export const packageFiles = {
  'swagger-ui.css': require.resolve('swagger-ui-dist/swagger-ui.css'),
  'swagger-ui-bundle.js': require.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
  'favicon-32x32.png': require.resolve('swagger-ui-dist/favicon-32x32.png'),
};

/** Files that are no part of the package, by name. */
export const ownFiles = { 'show-reference.js': showReference };
