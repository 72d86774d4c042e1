import { App, Stack } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { explainWildcards } from '../../lib/explain-wildcards.ts';

test('explainWildcards throws for a wildcard without a reason', () => {
  const stack = new Stack(new App(), 'Stack');
  const arn = `arn:aws:s3:::${stack.account}-bucket/*`;
  expect(() => explainWildcards(stack, [arn], undefined)).toThrow(
    'A wildcard needs a reason: arn:aws:s3:::<AWS::AccountId>-bucket/*',
  );
  expect(() => explainWildcards(stack, [arn], 'Names are random.')).not.toThrow();
  expect(() => explainWildcards(stack, ['arn:aws:s3:::bucket/key'], undefined)).not.toThrow();
});
