import { expect, test } from 'vitest';
import { ofType, ownFunctions, synthesize } from '../../synthesize.ts';

const first = synthesize();
/** The same settings in other words, so that the synthesis is another one. */
const again = synthesize({ logLevel: 'info' });
const other = synthesize({ apiRequestsPerSecond: 101 });
const versions = (synthesized = first) => ofType(synthesized, 'AWS::Lambda::Version');
const ids = (synthesized = first) => versions(synthesized).map(([id]) => id);

test('versions remain for a rollback, except those that a failed deployment has created', () => {
  expect(versions()).toHaveLength(Object.keys(ownFunctions(first)).length);
  for (const [, { DeletionPolicy, UpdateReplacePolicy }] of versions())
    expect([DeletionPolicy, UpdateReplacePolicy]).toEqual(['RetainExceptOnCreate', 'Retain']);
});

test('another try of a release creates the versions of the first one, and another release creates others', () => {
  expect(ids(again)).toEqual(ids());
  for (const id of ids(other)) expect(ids()).not.toContain(id);
});
