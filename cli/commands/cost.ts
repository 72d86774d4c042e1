import { estimate } from '../cost/estimate.ts';
import type { CostQuestion } from '../cost/estimate.ts';
import { listPricesDate } from '../cost/list-prices.ts';
import type { Terminal } from '../terminal.ts';

/** Prints the cost of a stream-hour on AWS by list prices (`watchpost cost`). */
export async function cost(question: CostQuestion, terminal: Terminal, asJson: boolean): Promise<void> {
  const { lines, total } = await estimate(question);
  if (asJson) return terminal.print(JSON.stringify({ ...question, prices: listPricesDate, lines, total }));
  for (const { item, quantity, unit, dollars } of lines) {
    terminal.print(
      `${item.padEnd(16)} ${quantity.toFixed(quantity < 10 ? 4 : 0).padStart(10)} ${unit.padEnd(12)} $${dollars.toFixed(5)}`,
    );
  }
  terminal.print(`${'Stream-hour'.padEnd(40)} $${total.toFixed(4)}`);
  terminal.note(
    `List prices of us-east-1 as of ${listPricesDate}. Excludes free tiers, data transfer, traces, and the fixed cost of alarms and dashboard.`,
  );
}
