import type { ModelUse } from '../api/check-result.ts';
import { pluralize } from '../time/format.ts';

/** List prices in USD per million tokens (us-east-1, 2026-11). The first name that the model id contains applies. */
const prices: { name: string; input: number; output: number }[] = [
  { name: 'nova-micro', input: 0.035, output: 0.14 },
  { name: 'nova-lite', input: 0.06, output: 0.24 },
  { name: 'nova-pro', input: 0.8, output: 3.2 },
];

/** Returns the cost of a check as text. Without a known price it returns the tokens. */
export function checkCost(use: ModelUse | null): { text: string; note: string } {
  if (!use) return { text: 'Unknown', note: 'The service does not report its model.' };
  if (use.provider === 'objects')
    return { text: 'No model cost', note: 'The built-in model runs on this machine.' };
  const tokens = `${use.inputTokens.toLocaleString()} tokens in, ${use.outputTokens.toLocaleString()} out`;
  const price = prices.find(({ name }) => use.model.includes(name));
  if (!price) return { text: tokens, note: 'Multiply by the price of your model.' };
  const dollars = (use.inputTokens * price.input + use.outputTokens * price.output) / 1_000_000;
  return { text: `about $${dollars.toFixed(5)}`, note: `${tokens}, at list price` };
}

/** Returns the calls of a model with their price, if it is known: "12 model calls, about $0.05". */
export function callsText({ model_calls: calls, cost_usd: usd }: CallCost): string {
  return `${pluralize(calls, 'model call')}${usd === null || usd === 0 ? '' : `, about $${usd.toFixed(2)}`}`;
}

type CallCost = { model_calls: number; cost_usd: number | null };
