import type { Log, LogFields } from './ports/log.ts';

/**
 * The last line of defence of the log: texts of third parties (ffmpeg, an SDK, a receiver) may quote what we never write.
 * What is masked: credentials in URLs, secrets in their queries, our keys, webhook secrets, authorization headers.
 */
export function redact(text: string): string {
  return masks.reduce((masked, { pattern, by }) => masked.replace(pattern, by), text);
}

/** A log that writes nothing before it is redacted. */
export function redactedLog(log: Log): Log {
  return {
    debug: (message, fields) => log.debug(redact(message), redactedFields(fields)),
    info: (message, fields) => log.info(redact(message), redactedFields(fields)),
    warning: (message, fields) => log.warning(redact(message), redactedFields(fields)),
    error: (message, fields) => log.error(redact(message), redactedFields(fields)),
  };
}

function redactedFields(fields: LogFields | undefined): LogFields | undefined {
  if (fields === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? redact(value) : value]),
  );
}

/** Each is linear in the text: what may stand before a word that is looked for is bounded. */
const masks: readonly { pattern: RegExp; by: string }[] = [
  // Up to the last @ before the path, so that an @ in a password hides no rest of it.
  { pattern: /\b([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s/?#]*@/gi, by: '$1***@' },
  {
    pattern:
      /([?&;](?:[\w-]{0,40}(?:token|key|signature|secret|credential|password)|auth|sig|pass|pwd)=)[^\s&;#"']+/gi,
    by: '$1***',
  },
  { pattern: /\bwp_[\w-]{20,}/g, by: 'wp_***' },
  { pattern: /\bwhsec_[\w+/=-]+/g, by: 'whsec_***' },
  { pattern: /\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi, by: '$1 ***' },
];
