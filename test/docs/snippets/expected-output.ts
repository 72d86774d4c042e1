/** Returns the first documented line that the output lacks in this order, else undefined. "…" matches any text. */
export function missingLine(shown: string, output: string): string | undefined {
  const lines = output.split('\n').map((line) => line.trim());
  let from = 0;
  for (const line of shown.trim().split('\n')) {
    const pattern = new RegExp(
      `^${line
        .trim()
        .split('…')
        .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
        .join('.*')}$`,
    );
    const found = lines.slice(from).findIndex((one) => pattern.test(one));
    if (found === -1) return line;
    from += found + 1;
  }
  return undefined;
}
