import { App, Stack } from 'aws-cdk-lib';
import { expect, test } from 'vitest';
import { folderOfTest } from '../../support/temporary-folder.ts';
import { suppressWildcardFindings } from '../../../lib/function/service-function.ts';

test('explainWildcards throws for a wildcard without a reason', () => {
  const stack = new Stack(new App({ outdir: folderOfTest() }), 'Stack');
  const arn = `arn:aws:s3:::${stack.account}-bucket/*`;
  expect(() => suppressWildcardFindings(stack, [arn], undefined)).toThrow(
    'A wildcard needs a reason: arn:aws:s3:::<AWS::AccountId>-bucket/*',
  );
  expect(() => suppressWildcardFindings(stack, [arn], 'Names are random.')).not.toThrow();
  expect(() => suppressWildcardFindings(stack, ['arn:aws:s3:::bucket/key'], undefined)).not.toThrow();
});
