import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ownFiles, packageFiles, referencePolicy } from '../../../adapters/http/reference-files.ts';
import { ofType, one, synthesize } from '../synthesize.ts';

const synthesized = synthesize();

test('the reference page has its own content security policy and its files in the bucket', () => {
  const policies = ofType(synthesized, 'AWS::CloudFront::ResponseHeadersPolicy').map(
    ([, { Properties }]) => Properties.ResponseHeadersPolicyConfig,
  );
  const docs = policies.find(({ Name }) => String(Name).endsWith('-docs'));
  expect(docs.SecurityHeadersConfig.ContentSecurityPolicy.ContentSecurityPolicy).toBe(referencePolicy);
  const deployed = ofType(synthesized, 'Custom::CDKBucketDeployment').map(([, { Properties }]) => Properties);
  const files = deployed.find(({ DestinationBucketKeyPrefix: prefix }) => prefix === 'docs');
  expect(files?.SourceBucketNames).toHaveLength(2 + Object.keys(ownFiles).length);
  const assets = readdirSync(synthesized.outDir).filter((name) =>
    existsSync(join(synthesized.outDir, name, 'swagger-ui.css')),
  );
  expect(assets.map((name) => readdirSync(join(synthesized.outDir, name)).toSorted())).toEqual([
    Object.keys(packageFiles).toSorted(),
  ]);
});

test('a stage without console has no reference page, and the API answers for it', () => {
  const { DistributionConfig: bare } = one(
    synthesize({ console: false }),
    'AWS::CloudFront::Distribution',
    'Edge',
  );
  expect(bare.CacheBehaviors.map(({ PathPattern }: any) => PathPattern)).not.toContain('/docs');
});
