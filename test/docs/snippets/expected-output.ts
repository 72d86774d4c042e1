/** Whether lines that a page shows came, in this order, with others in between or not. "…" stands for anything. Names the first that did not. */
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
