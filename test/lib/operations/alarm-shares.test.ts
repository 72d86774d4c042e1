import { expect, test } from 'vitest';
import { ofType, synthesize } from '../synthesize.ts';

const alarms = ofType(synthesize(), 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);
const find = (name: string) => alarms.find(({ AlarmName }) => AlarmName.endsWith(`/${name}`));
const expression = (name: string) => find(name).Metrics.find(({ Expression }: any) => Expression).Expression;
const sum = (...ids: string[]) => `SUM([${ids.map((id) => `FILL(${id}, 0)`).join(', ')}])`;

test('an alarm on failures is a share of the whole, and silent below a floor', () => {
  const failed = sum('part0', 'part1');
  expect(expression('failed-bursts')).toBe(
    `IF(${failed} >= 3, 100 * ${failed} / MAX([${failed}, ${sum('whole0')}]), 0)`,
  );
});

test.each([
  ['failed-jobs', 5],
  ['model-throttles', 10],
  ['function-throttles', 10],
  ['function-errors', 5],
  ['executions-failed', 1],
  ['reconcile-repairs', 10],
  ['api-faults', 5],
  ['stream-faults', 5],
  ['table-throttles', 10],
  ['late-ticks', 10],
])('the alarm %s scales with the deployment from %d failures on', (name, floor) => {
  expect(expression(name)).toMatch(new RegExp(`^IF\\(SUM\\(.*\\) >= ${floor}, 100 \\* `));
  expect(find(name).Threshold).toBeLessThanOrEqual(5);
});

test.each(['reconcile-repairs', 'table-throttles', 'late-ticks'])(
  'the alarm %s counts the ticks of jobs and watches as its whole',
  (name) => {
    const whole = find(name).Metrics.find(({ Id }: any) => Id === 'whole0').MetricStat.Metric;
    expect(whole).toMatchObject({ Namespace: 'AWS/Lambda', MetricName: 'Invocations' });
    expect(JSON.stringify(whole.Dimensions)).toMatch(/"FunctionName".*"Analyze/);
  },
);

test('no alarm has more metrics than the ten that CloudWatch permits', () => {
  for (const { Metrics = [] } of alarms)
    expect(Metrics.filter(({ MetricStat }: any) => MetricStat).length).toBeLessThanOrEqual(10);
});
