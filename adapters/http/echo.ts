import { maskUrl } from '../../core/stream/mask-url.ts';
import { redact } from '../../core/observability/redact.ts';

const echoedCharacters = 200;
/** Enough to see a credential as a whole before it is cut. */
const readCharacters = 1000;
const neverEchoed = new Set(['frame_b64', 'api_key', 'authorization']);

/** What may be repeated to the caller of what was sent: no frames, no keys, no credentials in URLs, nothing long. */
export function redactInput(value: unknown): unknown {
  if (typeof value === 'string') return echoText(value);
  if (Array.isArray(value)) return [];
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => !neverEchoed.has(name));
  return Object.fromEntries(
    entries
      .slice(0, 30)
      .map(([name, inner]) => [name, typeof inner === 'object' && inner !== null ? {} : redactInput(inner)]),
  );
}

/** Of a field with this name. */
export function redactInputField(name: string | number | undefined, value: unknown): unknown {
  return neverEchoed.has(String(name)) ? null : redactInput(value);
}

function echoText(value: string): string {
  const masked = redact(maskUrl(value.slice(0, readCharacters)));
  const shown = mayHoldPassword(masked.replaceAll('***@', '')) ? '***' : masked;
  return shown.length > echoedCharacters ? `${shown.slice(0, echoedCharacters).toWellFormed()}…` : shown;
}

/** `user:password@host`, `rtsp://user:pass?word@host` and whatever else is no URL but was meant to be one. */
function mayHoldPassword(text: string): boolean {
  const colon = text.indexOf(':');
  return colon >= 0 && text.lastIndexOf('@') > colon;
}
