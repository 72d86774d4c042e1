import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readStage } from '../../../lib/stages/read-stage.ts';
import { folderOfTest } from '../../support/temporary-folder.ts';

const stages = fileURLToPath(new URL('../../../lib/stages/', import.meta.url));

test('readStage reads every stage of the repository', () => {
  for (const file of readdirSync(stages).filter((name) => name.endsWith('.json')))
    expect(readStage(file.replace('.json', ''), stages)).toBeDefined();
});

test('an empty stage uses the defaults, which protect stored data', () => {
  expect(parseStage('{}').settings).toMatchObject({
    architecture: 'arm64',
    maxJobSeconds: 600,
    jobsPerCaller: 10,
    watchesPerCaller: 25,
    logDays: 30,
    deletionProtection: true,
    keepData: true,
    reservedConcurrency: {},
    allowRanges: [],
    allowWebhookRanges: [],
  });
});

describe('readStage', () => {
  test.for([
    ['{ "alarmMail": "a@example.com" }', 'alarmMail'],
    ['{ "alarmEmail": "nobody" }', 'alarmEmail'],
    ['{ "logDays": 31 }', 'logDays'],
    ['{ "maxJobSeconds": 86401 }', 'maxJobSeconds'],
    ['{ "modelId": "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0" }', 'modelId'],
    ['{ "bedrockModelId": "arn:aws:bedrock:x" }', 'not an ARN'],
    ['{ "reservedConcurrency": { "capture": -1 } }', 'reservedConcurrency.capture'],
    ['{ "eventStreams": 100, "reservedConcurrency": { "events": 100 } }', 'must be more than eventStreams'],
    ['{ "allowRanges": ["10.0.0.0"] }', 'allowRanges[0]'],
    ['{ "allowWebhookRanges": ["10.0.0.0"] }', 'allowWebhookRanges[0]'],
    [
      '{ "domain": { "name": "a.example", "certificateArn": "arn:aws:acm:eu-central-1:123456789012:certificate/a" } }',
      'us-east-1',
    ],
    ['{ "youtubeClients": [] }', 'youtubeClients'],
    ['{ "youtubeClients": ["web player"] }', 'youtubeClients[0]'],
    [
      '{ "platformSecretArn": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:platforms" }',
      'six characters',
    ],
    ['{ "requestsPerAddress": 9 }', 'requestsPerAddress'],
    [
      '{ "requestsPerAddress": 100, "webAclArn": "arn:aws:wafv2:us-east-1:123456789012:global/webacl/a/b" }',
      'remove webAclArn',
    ],
    ['{', 'not valid JSON'],
  ])('readStage rejects %s with file and fault', ([text, fault]) => {
    expect(() => parseStage(text!)).toThrow(fault);
    expect(() => parseStage(text!)).toThrow('trial.json');
  });
});

test('readStage explains how to create a missing stage', () => {
  expect(() => readStage('prot', stages)).toThrow('an empty object ({}) uses the defaults');
});

test('readStage rejects a path as stage name', () => {
  expect(() => readStage('../package', stages)).toThrow('lower-case letters');
});

function parseStage(text: string) {
  const folder = folderOfTest();
  writeFileSync(join(folder, 'trial.json'), text);
  return readStage('trial', folder);
}
