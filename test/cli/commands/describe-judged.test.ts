import { expect, test } from 'vitest';
import { describeJudged } from '../../../cli/commands/start.ts';

test.each([
  ['objects', /80 everyday things.*set WATCHPOST_VISION/],
  ['pixel', /colors, brightness and motion only.*npm ci/],
  ['openai', /^any condition/],
  ['bedrock', /^any condition/],
  ['local', /^any condition/],
  ['objects+openai', /^any condition/],
])('the start with %s states in one line what it judges', (provider, line) => {
  expect(describeJudged(provider)).toMatch(line);
  expect(describeJudged(provider)).not.toContain('\n');
});
