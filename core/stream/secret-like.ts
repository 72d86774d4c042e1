/**
 * Whether the text reads like something that was drawn at random (a key, a hash, a signature, a UUID) rather than like a name that somebody gave. Too strict
 * a judge hides a name; too mild a one shows what opens a stream.
 */
export function looksSecret(text: string): boolean {
  if (/eyJ[\w-]{8}/.test(text) || uuid.test(text)) return true;
  const runs = text.split(/[^A-Za-z0-9+%]+/);
  return runs.some(isRandomRun) || changesOften(text);
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Hexadecimal and base64 without separators; digits alone are a number or a time. */
function isRandomRun(run: string): boolean {
  const hasLetter = /[a-z]/i.test(run);
  if (!hasLetter) return run.length >= 20;
  if (/\d/.test(run)) return run.length >= 16 || (run.length >= 10 && shareOfChanges(run) >= 0.5);
  return run.length >= 24 || (run.length >= 16 && /[a-z]/.test(run) && shareOfChanges(run) >= 0.4);
}

/** Base64url, whose separators cut it into short runs. */
function changesOften(text: string): boolean {
  const letters = text.replaceAll(/[^A-Za-z0-9]/g, '');
  return letters.length >= 16 && shareOfChanges(letters) >= 0.45;
}

/** From one kind of character (lower case, upper case, digit) to another: 0.6 of what is random, a quarter of names. */
function shareOfChanges(text: string): number {
  const kinds = Array.from(text, (character) => {
    if (/\d/.test(character)) return 'digit';
    return character === character.toLowerCase() ? 'lower' : 'upper';
  });
  const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
  return changes / Math.max(1, kinds.length - 1);
}
