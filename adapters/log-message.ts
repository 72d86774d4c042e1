import { showControls } from '../core/observability/redact.ts';
import type { LogFields } from '../core/ports/observability.ts';

/** A stack trace is long; 500 of these stay below a megabyte. */
const messageCharacters = 2_000;

/** An entry of the contract has a message and nothing else, so fields follow it as `name=value`. */
export function withFields(message: string, fields: LogFields = {}): string {
  const details = Object.entries(fields)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => ` ${name}=${quoted(value)}`);
  return showControls(`${message}${details.join('')}`.slice(0, messageCharacters));
}

function quoted(value: LogFields[string]): string {
  const text = String(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}
