import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { listPrices } from '../../cli/cost/stream-hour.ts';
import { metricUnits } from '../../core/ports/observability.ts';
import { ofType, synthesize } from './synthesize.ts';

const page = readFileSync('docs/operate/cost.md', 'utf8');
const readPrice = (item: string) => {
  const row = page.split('\n').find((line) => line.startsWith(`- ${item}: `));
  return Number(/\$(\d+\.\d\d)\**$/.exec(row ?? '')?.[1]);
};

/** An alarm on an expression is billed for each metric in it (aws.amazon.com/cloudwatch/pricing). */
const alarmMetrics = ofType(synthesize(), 'AWS::CloudWatch::Alarm')
  .map(([, { Properties }]) => Properties)
  .reduce((sum, { Metrics }) => sum + (Metrics?.filter(({ MetricStat }: any) => MetricStat).length ?? 1), 0);

/** Metrics of the event bus, which a stage turns on, and of callers, which the page prices by caller. */
const optional = ['BusEvents', 'BusErrors', 'TokensToday', 'CostUsdToday'];
const metrics = Object.keys(metricUnits).filter((name) => !optional.includes(name));

test('docs/operate/cost.md states the fixed costs of the alarms and metrics of a deployment', () => {
  expect(readPrice('alarms')).toBeCloseTo(alarmMetrics * listPrices.alarmMetric, 5);
  expect(readPrice('custom metrics')).toBeCloseTo(metrics.length * listPrices.customMetric, 5);
  expect(readPrice('dashboard')).toBeCloseTo(listPrices.dashboard, 5);
  expect(readPrice('secrets')).toBeCloseTo(2 * listPrices.secret, 5);
  const items = ['alarms', 'custom metrics', 'dashboard', 'secrets', '`reconcile`'];
  const total = items.reduce((sum, item) => sum + readPrice(item), 0);
  expect(readPrice('**total**')).toBeCloseTo(total, 5);
});
