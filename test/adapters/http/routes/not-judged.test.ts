import { beforeEach, describe, expect, test } from 'vitest';
import { frameBase64 } from '../../../../adapters/openapi/examples/jobs.ts';
import { createClientFor, type ApiClient } from '../../../support/api/api-client.ts';
import { createWorld, type World } from '../../../support/world.ts';
import { judgingEach } from '../../../support/scripted-model.ts';
import { judgeCondition } from '../../../../core/ports/vision-model.ts';

/** Conditions that the model cannot judge: a third outcome beside the contract's boolean. */

let world: World;
let client: ApiClient;
beforeEach(async () => {
  world = createWorld();
  const { vision } = world.c;
  const unjudged = {
    triggered: false,
    judged: false,
    explanation: 'Cannot be checked.',
    tokens: { input_tokens: 0, output_tokens: 0 },
  };
  world.c.vision = {
    ...vision,
    judge: judgingEach(async (media, condition, signal) =>
      condition.includes('dragon') ? unjudged : judgeCondition(vision, media, { condition }, signal),
    ),
    answer: async () => ({
      answer: 'Cannot be checked.',
      triggered: null,
      judged: false,
      tokens: unjudged.tokens,
    }),
    capabilities: {
      ...vision.capabilities,
      conditionExamples: ['The picture is dark'],
      readCondition: (condition) => ({
        reasonNotToJudge: condition.includes('dragon') ? 'it knows no dragons' : null,
        unjudgedParts: [],
      }),
    },
  };
  client = await createClientFor(world);
});

const stream = { stream_url: 'https://example.com/live.m3u8' };

describe('a condition that the model cannot judge', () => {
  test('a check that is not judged has a field beside the boolean, and an ordinary check has no further field', async () => {
    const { body } = await client.call('POST', '/check-once', { ...stream, condition: 'a dragon' });
    expect(body).toMatchObject({ triggered: false, judged: false, explanation: 'Cannot be checked.' });
    const ordinary = await client.call('POST', '/check-once', { ...stream, condition: 'a ship' });
    expect(Object.keys(ordinary.body).toSorted()).toEqual(['explanation', 'latency_ms', 'triggered']);
  });

  test('an answer that is not judged has the same field', async () => {
    const { body } = await client.call('POST', '/analyze-frame', {
      frame_b64: frameBase64,
      question: 'Is it a dragon?',
    });
    expect(body).toMatchObject({ triggered: null, judged: false });
  });

  test('the creation of a monitor warns, and each of its checks has the field', async () => {
    const { body } = await client.call('POST', '/live-monitor', { ...stream, condition: 'a dragon' });
    expect(body.message).toMatch(
      /The model scripted cannot judge this condition, so no check alerts: it knows no dragons\.$/,
    );
    const step = await world.begin({ run_id: body.job_id, generation: 0 });
    await world.tick(step);
    const { body: log } = await client.call('GET', `/jobs/${body.job_id}/events`);
    expect(log.events.at(-1)).toMatchObject({
      type: 'progress',
      data: { triggered: false, judged: false, explanation: 'Cannot be checked.' },
    });
  });
});

test('the service describes its limits and its model, for each key', async () => {
  const reader = await createClientFor(world, ['read']);
  expect((await reader.call('GET', '/service')).body).toEqual({
    version: world.c.version,
    limits: {
      max_job_seconds: world.c.limits.maxJobSeconds,
      retention_seconds: world.c.limits.retentionSeconds,
      jobs_per_caller: world.c.limits.jobsPerCaller,
    },
    destination_types: ['webhook', 'slack', 'email'],
    email_recipients: ['@example.com', 'd***@example.org'],
    discovers_cameras: true,
    model: {
      provider: 'scripted',
      name: 'scripted',
      supports_video: true,
      condition_examples: ['The picture is dark'],
    },
  });
});

test('the error of a missing job names the retention of the service', async () => {
  world.c.limits.retentionSeconds = 120;
  const { body } = await client.call('GET', '/jobs/11111111-1111-4111-8111-111111111111');
  expect(body.error.remediation).toBe('Check the job_id. A finished job is removed 120 s after its end.');
});

test('the answer to a creation and to a change of a watch names what the model does not judge', async () => {
  const watch = {
    ...stream,
    name: 'Lair',
    conditions: [{ condition: 'A dragon sleeps' }, { condition: 'The picture is dark' }],
  };
  const { body: created } = await client.call('POST', '/watches', watch);
  const unjudged = [
    {
      condition_id: 'a-dragon-sleeps',
      findings: [{ code: 'model_cannot_judge', message: expect.stringContaining('it knows no dragons') }],
    },
  ];
  expect(created.not_judged).toEqual(unjudged);
  const path = `/watches/${created.watch_id}`;
  expect((await client.call('PATCH', path, { interval_seconds: 20 })).body.not_judged).toEqual(unjudged);
  const judged = { conditions: [{ condition: 'The picture is dark' }] };
  expect((await client.call('PATCH', path, judged)).body).not.toHaveProperty('not_judged');
  expect((await client.call('GET', path)).body).not.toHaveProperty('not_judged');
});
