/** Size of the largest 8-connected group of set pixels. `mask` is read only. */
export function largestComponent(mask: Uint8Array, width: number): number {
  const open = mask.slice();
  const stack: number[] = [];
  let largest = 0;
  for (let start = 0; start < open.length; start += 1) {
    if (open[start] !== 1) continue;
    open[start] = 0;
    stack.push(start);
    let size = 0;
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      size += 1;
      const x = at % width;
      const from = x === 0 ? 0 : -1;
      const to = x === width - 1 ? 0 : 1;
      for (let row = at - width; row <= at + width; row += width) {
        for (let side = from; side <= to; side += 1) {
          if (open[row + side] !== 1) continue;
          open[row + side] = 0;
          stack.push(row + side);
        }
      }
    }
    largest = Math.max(largest, size);
  }
  return largest;
}
