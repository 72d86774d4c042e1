/** Response header that names ignored fields, because many bodies have no field for it. */
export const noticeHeader = 'Watchpost-Notice';

/** Replaces what a header cannot hold: it holds printable ASCII only. */
export function toHeaderText(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, '?');
}
