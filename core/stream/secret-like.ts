/**
 * Returns true if the text looks random (key, hash, signature, UUID) rather than like a name. A false positive hides a name, a false negative
 * shows a credential.
 */
export function looksSecret(text: string): boolean {
  if (/eyJ[\w-]{8}/.test(text) || uuid.test(text)) return true;
  const runs = text.split(/[^A-Za-z0-9+%]+/);
  return runs.some(isRandomRun) || changesOften(text);
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;

/** Detects hexadecimal and base64 without separators. Up to 19 digits alone are a number or a time. */
function isRandomRun(run: string): boolean {
  const hasLetter = /[a-z]/i.test(run);
  if (!hasLetter) return run.length >= 20;
  if (/\d/.test(run)) return run.length >= 16 || (run.length >= 10 && shareOfChanges(run) >= 0.5);
  return run.length >= 24 || (run.length >= 16 && /[a-z]/.test(run) && shareOfChanges(run) >= 0.4);
}

/** Detects base64url, whose separators split it into short runs. */
function changesOften(text: string): boolean {
  const letters = text.replaceAll(/[^A-Za-z0-9]/g, '');
  return letters.length >= 16 && shareOfChanges(letters) >= 0.45;
}

/** Returns the share of changes between lower case, upper case and digits: about 0.6 in random text, 0.25 in names. */
function shareOfChanges(text: string): number {
  const kinds = Array.from(text, (character) => {
    if (/\d/.test(character)) return 'digit';
    return character === character.toLowerCase() ? 'lower' : 'upper';
  });
  const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
  return changes / Math.max(1, kinds.length - 1);
}
