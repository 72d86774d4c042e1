import { findNearestName } from '../../core/nearest-name.ts';
import { listSettings } from '../settings.ts';

/** Variables with the prefix that are no settings of the service, with their reader. */
export const otherVariables: Record<string, string> = {
  WATCHPOST_KEY: 'the commands below keys, for --base-url',
  WATCHPOST_CAMERA_PASSWORD: 'watchpost discover',
  WATCHPOST_API_KEY: 'examples of callers',
  WATCHPOST_WEBHOOK_SECRET: 'examples of receivers',
  WATCHPOST_VERSION: 'the bundles of the functions on AWS',
  WATCHPOST_CHROMIUM: 'the tests of the console',
  WATCHPOST_SCREENSHOTS: 'the tests of the console',
  WATCHPOST_TEST_FOLDER: 'the tests',
  WATCHPOST_TEST_SYSTEM_FOLDER: 'the tests',
  WATCHPOST_TEST_PACKAGES: 'the tests',
};

const prefix = 'WATCHPOST_';
/** Names that other programs use, which are no sign of a forgotten prefix. */
const commonNames = new Set(['PORT', 'HOST', 'LOG_LEVEL', 'FFMPEG', 'OPENAI_API_KEY']);

/** Returns a warning for each variable that looks like a setting but has no effect. */
export function findStrayVariables(env: NodeJS.ProcessEnv): string[] {
  const settings = listSettings().map(({ variable }) => variable);
  const mistyped = Object.keys(env)
    .filter((name) => name.startsWith(prefix) && !settings.includes(name) && !(name in otherVariables))
    .map((name) => {
      const nearest = findNearestName(name, settings);
      return `${name} is no setting and has no effect.${nearest === undefined ? '' : ` Did you mean ${nearest}?`}`;
    });
  const unprefixed = settings
    .map((variable) => ({ variable, name: variable.slice(prefix.length) }))
    .filter(
      ({ variable, name }) =>
        env[name] !== undefined && env[variable] === undefined && !commonNames.has(name),
    )
    .map(({ variable, name }) => `${name} has no effect: the setting is ${variable}.`);
  return [...mistyped, ...unprefixed];
}
