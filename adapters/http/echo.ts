import { maskUrl } from '../../core/stream/mask-url.ts';
import { redact } from '../../core/observability/redact.ts';

const echoedCharacters = 200;
/** Maximum length that is searched for credentials, in characters; long enough for a whole credential. */
const readCharacters = 1000;
const neverEchoed = new Set(['frame_b64', 'api_key', 'authorization', 'password']);

/** Returns the part of an input that an error response can repeat: no frames, keys or credentials in URLs, and no long text. */
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

/** Returns the part of the value of a field that an error response can repeat. */
export function redactInputField(name: string | number | undefined, value: unknown): unknown {
  return neverEchoed.has(String(name)) ? null : redactInput(value);
}

function echoText(value: string): string {
  const masked = redact(maskUrl(value.slice(0, readCharacters)));
  const shown = mayHoldPassword(masked.replaceAll('***@', '')) ? '***' : masked;
  return shown.length > echoedCharacters ? `${shown.slice(0, echoedCharacters).toWellFormed()}…` : shown;
}

/** Credentials in text that does not parse as a URL: `user:password@host`, `rtsp://user:pass?word@host`. */
function mayHoldPassword(text: string): boolean {
  const colon = text.indexOf(':');
  return colon >= 0 && text.lastIndexOf('@') > colon;
}
