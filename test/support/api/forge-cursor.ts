/** Reads the state in a cursor. */
export function readState(cursor: string) {
  const [text = ''] = cursor.split('.');
  return JSON.parse(Buffer.from(text, 'base64url').toString());
}

/** Returns a cursor with other values, and the signature of the true one. */
export function forgeCursor(cursor: string, values: object): string {
  const [, ...signature] = cursor.split('.');
  const text = Buffer.from(JSON.stringify({ ...readState(cursor), ...values })).toString('base64url');
  return [text, ...signature].join('.');
}
