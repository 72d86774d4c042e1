/**
 * Replaces control characters by their code, as `\u001b`, and those that reorder text. A terminal obeys them: a name
 * from elsewhere could clear the screen, set its title, or show another text than it has. Keeps line breaks and tabs,
 * and the meaning of JSON.
 */
export function showControls(text: string): string {
  return text.replaceAll(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** C0 without tab and line feed, DEL, C1, and embeddings, overrides and isolates of text direction. */
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/g;
