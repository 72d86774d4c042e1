import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect, test } from 'vitest';
import { folderOfTest } from '../support/temporary-folder.ts';

const script = new URL('../../bin/deploy.ts', import.meta.url).pathname;

/** Deploys a stage with a CDK that only notes its arguments. */
function deploy(settings: object, exitCode = 0) {
  const folder = folderOfTest();
  const stages = join(folder, 'stages');
  mkdirSync(stages);
  writeFileSync(join(stages, 'trial.json'), JSON.stringify({ ffmpegPath: folder, ...settings }));
  const calls = join(folder, 'calls');
  writeFileSync(join(folder, 'cdk'), `#!/bin/sh\necho "$@" >> ${calls}\nexit ${exitCode}\n`, { mode: 0o755 });
  const args = [script, '-c', 'stage=trial', '-c', `stages=${stages}`, '--require-approval', 'never'];
  const env = {
    ...process.env,
    PATH: `${folder}${delimiter}${process.env['PATH']}`,
    // Nothing of AWS is asked.
    AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    AWS_REGION: 'eu-central-1',
  };
  const { status, stdout } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  return {
    status,
    stdout,
    lastLine: stdout.trim().split('\n').at(-1),
    calls: readFileSync(calls, 'utf8'),
    stages,
  };
}

test.each([
  [{}, 'yellow Alarms reach nobody: the stage has neither alarmEmail nor alarmTopicArn.'],
  [
    { alarmEmail: 'on-call@example.com' },
    'green  Alarms go to on-call@example.com once its owner has confirmed',
  ],
])('the last line of a deployment of %j says who receives its alarms', (settings, line) => {
  const { status, lastLine, calls, stages } = deploy(settings);
  expect(status).toBe(0);
  expect(lastLine).toContain(line);
  expect(calls).toBe(`deploy -c deploy=true -c stage=trial -c stages=${stages} --require-approval never\n`);
});

test('a deployment that failed ends with the exit code of the CDK, without a word on alarms', () => {
  const { status, stdout } = deploy({}, 3);
  expect(status).toBe(3);
  expect(stdout).not.toMatch(/alarms/i);
});
