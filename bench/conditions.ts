import { compareCalls, type Cost } from './conditions/compare-calls.ts';

/** Prints what a check of three conditions in one call costs on Nova Lite, against one condition and against three calls. Needs no network. */
const { one, joint, separate } = await compareCalls();
const row = ({ dollars, ...counts }: Cost) => ({
  ...counts,
  'dollars per 1,000': (1000 * dollars).toFixed(4),
});
console.table({ 'one condition': row(one), 'three in one call': row(joint), 'three calls': row(separate) });
const ratio = (name: string, value: number, goal: number) =>
  console.log(`${name}: ${value.toFixed(2)} (goal ${goal}: ${value <= goal ? 'met' : 'missed'})`);
ratio('input tokens, three against one', joint.inputTokens / one.inputTokens, 1.3);
ratio('dollars, three against one', joint.dollars / one.dollars, 1.6);
console.log(
  `dollars, three in one call against three calls: ${(joint.dollars / separate.dollars).toFixed(2)}`,
);
