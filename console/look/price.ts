import type { ModelUse } from '../api/look-answer.ts';

/** Dollars for a million tokens, from the list prices of us-east-1 as of 2026-11; the longest name that fits counts. */
const prices: { name: string; input: number; output: number }[] = [
  { name: 'nova-micro', input: 0.035, output: 0.14 },
  { name: 'nova-lite', input: 0.06, output: 0.24 },
  { name: 'nova-pro', input: 0.8, output: 3.2 },
];

/** What a look has cost, as honestly as it is known. */
export function costOf(use: ModelUse | null): { text: string; note: string } {
  if (!use) return { text: 'Unknown', note: 'The service does not say what model answered.' };
  if (use.provider === 'pixel')
    return { text: 'No model cost', note: 'The built-in pixel model measures on this machine.' };
  const tokens = `${use.inputTokens.toLocaleString()} tokens in, ${use.outputTokens.toLocaleString()} out`;
  const price = prices.find(({ name }) => use.model.includes(name));
  if (!price) return { text: tokens, note: 'Times the price of your model.' };
  const dollars = (use.inputTokens * price.input + use.outputTokens * price.output) / 1_000_000;
  return { text: `about $${dollars.toFixed(5)}`, note: `${tokens}, at list price` };
}
