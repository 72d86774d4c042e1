import { describe, expect, test } from 'vitest';
import { describeFunction, readRelease } from '../../../../lib/operations/rollback/names.ts';
import { findRunningRelease, planRollback } from '../../../../lib/operations/rollback/plan.ts';
import type { VersionedFunction } from '../../../../lib/operations/rollback/plan.ts';

/** Returns a function whose versions, from 1 on, have these releases. */
const versioned = (name: string, live: number, ...releases: string[]): VersionedFunction => ({
  name,
  live,
  versions: releases.map((release, index) => ({ version: index + 1, release })),
});

/** Releases that were live, unless a test says otherwise. */
const live = new Set(['a-w', 'b-w', 'c-w', 'a-v']);

describe('planRollback', () => {
  test('all functions return to the release before', () => {
    const functions = [
      versioned('api', 3, 'a-w', 'b-w', 'c-w'),
      versioned('capture', 3, 'a-w', 'b-w', 'c-w'),
    ];
    expect(planRollback(functions, live)).toEqual({
      kind: 'move',
      release: 'b-w',
      moves: [
        { name: 'api', from: 3, to: 2 },
        { name: 'capture', from: 3, to: 2 },
      ],
    });
  });

  test('a second rollback goes one release further', () => {
    const functions = [
      versioned('api', 2, 'a-w', 'b-w', 'c-w'),
      versioned('capture', 2, 'a-w', 'b-w', 'c-w'),
    ];
    expect(planRollback(functions, live)).toMatchObject({ release: 'a-w' });
  });

  test('an interrupted rollback is completed, not repeated', () => {
    const functions = [
      versioned('api', 2, 'a-w', 'b-w', 'c-w'),
      versioned('capture', 3, 'a-w', 'b-w', 'c-w'),
    ];
    expect(planRollback(functions, live)).toEqual({
      kind: 'move',
      release: 'b-w',
      moves: [{ name: 'capture', from: 3, to: 2 }],
    });
  });

  test('a function that was published twice for a release returns to the later version', () => {
    const functions = [versioned('api', 3, 'a-w', 'a-w', 'b-w'), versioned('capture', 2, 'a-w', 'b-w')];
    expect(planRollback(functions, live)).toMatchObject({
      moves: [
        { name: 'api', to: 2 },
        { name: 'capture', to: 1 },
      ],
    });
  });

  test('a release that a function lacks is passed over', () => {
    const functions = [versioned('api', 3, 'a-w', 'b-w', 'c-w'), versioned('capture', 2, 'a-w', 'c-w')];
    expect(planRollback(functions, live)).toMatchObject({ release: 'a-w' });
  });

  test('a release that failed between two good ones is passed over, and refused by name', () => {
    // 5:A was live, the deployment of 6:B failed after its versions were published, 7:C is live.
    const functions = [versioned('api', 3, 'a-w', 'b-w', 'c-w'), versioned('stream', 3, 'a-w', 'b-w', 'c-w')];
    const good = new Set(['a-w', 'c-w']);
    expect(planRollback(functions, good)).toMatchObject({
      release: 'a-w',
      moves: [
        { name: 'api', from: 3, to: 1 },
        { name: 'stream', from: 3, to: 1 },
      ],
    });
    expect(planRollback(functions, good, 'b-w')).toMatchObject({
      kind: 'impossible',
      reason: expect.stringContaining('Release b-w was not live'),
      next: 'Deploy the commit of that release, or use one of c-w, a-w.',
    });
    expect(planRollback(functions, new Set())).toMatchObject({ kind: 'impossible' });
  });

  test('the running release is the one of all functions', () => {
    const both = (of: number) => [versioned('api', 2, 'a-w', 'b-w'), versioned('stream', of, 'a-w', 'b-w')];
    expect(findRunningRelease(both(2))).toBe('b-w');
    expect(findRunningRelease(both(1))).toBeUndefined();
  });

  test('a named release can be newer than the running one', () => {
    expect(planRollback([versioned('api', 1, 'a-w', 'b-w')], live, 'b-w')).toMatchObject({
      moves: [{ name: 'api', from: 1, to: 2 }],
    });
  });

  test('a named release that runs needs no move', () => {
    expect(planRollback([versioned('api', 2, 'a-w', 'b-w')], live, 'b-w')).toEqual({
      kind: 'move',
      release: 'b-w',
      moves: [],
    });
  });

  test.each([
    ['the first deployment', [versioned('api', 1, 'a-w')], undefined, 'No earlier release'],
    ['an unknown release', [versioned('api', 1, 'a-w')], 'z-w', 'No release z-w'],
    ['other workflow definitions', [versioned('api', 2, 'a-v', 'b-w')], undefined, 'workflow definitions'],
    ['no function', [], undefined, 'No earlier release'],
  ])('%s is impossible, with a next step', (_, functions, target, reason) => {
    const plan = planRollback(functions, live, target);
    expect(plan).toMatchObject({ kind: 'impossible', reason: expect.stringContaining(reason) });
    expect(plan.kind === 'impossible' && plan.next).toMatch(/^(Use|Deploy) .*\.$/);
  });
});

test('the release of a version is read from its description', () => {
  expect(readRelease(describeFunction('api', '0a1b2c3d4e-5f6a7b8c9d'))).toBe('0a1b2c3d4e-5f6a7b8c9d');
  expect(readRelease('Watchpost: api')).toBeUndefined();
  expect(readRelease(undefined)).toBeUndefined();
});
