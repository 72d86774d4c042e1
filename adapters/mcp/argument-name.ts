/** Converts a header name to an argument name: `Idempotency-Key` to `idempotency_key`. */
export function argumentName(header: string): string {
  return header.toLowerCase().replaceAll('-', '_');
}
