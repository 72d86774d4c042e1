import { html, raw } from 'hono/html';
import type { HtmlEscapedString } from 'hono/utils/html';

/** Escaped HTML, possibly still to be resolved. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** Returns a JPEG as an image of the page itself. */
export function inlineJpeg(jpeg: Uint8Array, text: string): Html {
  const data = raw(Buffer.from(jpeg).toString('base64'));
  return html`<img alt="${text}" src="data:image/jpeg;base64,${data}" />`;
}

/** Wraps the body into a page that loads nothing from elsewhere, in light and dark. */
export async function page(title: string, body: Html): Promise<string> {
  const text = await html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width" />
        <meta
          http-equiv="Content-Security-Policy"
          content="default-src 'none'; img-src data:; style-src 'unsafe-inline'"
        />
        <title>${title}</title>
        <style>
          :root {
            color-scheme: light dark;
            --line: light-dark(#ccc, #444);
            --weak: light-dark(#555, #aaa);
            --yes: light-dark(#b3261e, #f2b8b5);
            --no: light-dark(#2e6b30, #a5d6a7);
            --skip: light-dark(#999, #777);
          }
          body {
            font:
              15px/1.5 system-ui,
              sans-serif;
            max-width: 70rem;
            margin: 2rem auto;
            padding: 0 1rem;
          }
          table {
            border-collapse: collapse;
            width: 100%;
            margin: 1rem 0;
          }
          th,
          td {
            text-align: left;
            padding: 0.3rem 0.6rem;
            border-bottom: 1px solid var(--line);
            vertical-align: top;
          }
          td.number,
          th.number {
            text-align: right;
            font-variant-numeric: tabular-nums;
          }
          figure {
            margin: 1rem 0;
          }
          figcaption,
          .weak {
            color: var(--weak);
          }
          img {
            max-width: 100%;
            height: auto;
            border: 1px solid var(--line);
          }
          .pictures {
            display: grid;
            gap: 1rem;
            grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr));
          }
          .yes {
            color: var(--yes);
          }
          .no {
            color: var(--no);
          }
          svg {
            width: 100%;
            height: auto;
          }
        </style>
      </head>
      <body>
        ${body}
      </body>
    </html> `;
  return text.toString();
}
