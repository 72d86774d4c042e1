import { expect, test } from 'vitest';
import { describeJudged } from '../../../cli/commands/start.ts';

test.each([
  ['objects', true, /80 everyday things.*set WATCHPOST_VISION/],
  ['objects', false, /colors, brightness and motion only, no things.*npm install --include=optional$/],
  ['openai', true, /^any condition/],
  ['bedrock', true, /^any condition/],
  ['local', true, /^any condition/],
  ['objects+openai', true, /^any condition/],
])('the start with %s, with a detector %s, states in one line what it judges', (provider, detector, line) => {
  expect(describeJudged(provider, detector)).toMatch(line);
  expect(describeJudged(provider, detector)).not.toContain('\n');
});
