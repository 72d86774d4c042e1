import { expect, test } from 'vitest';
import { createEventSessions } from '../../../../adapters/embedded/web/event-sessions.ts';
import { describeEventSessions } from '../../../contract/event-sessions.contract.ts';

describeEventSessions('The embedded process', async (perCaller) => createEventSessions(perCaller));

test('a shutdown ends every session and each later one', async () => {
  const sessions = createEventSessions(1);
  const before = await sessions.open('harbour');

  await sessions.endAll();

  expect(before?.signal.aborted).toBe(true);
  expect((await sessions.open('harbour'))?.signal.aborted).toBe(true);
});
