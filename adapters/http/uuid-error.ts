const groupLengths = [8, 4, 4, 4, 12];

/** Describes why a text is not a UUID, worded like Pydantic's parser (pydantic-core 2.50). */
export function uuidError(text: string): string {
  const characters = Array.from(text);
  const stranger = characters.findIndex((character) => !/[0-9a-fA-F-]/.test(character));
  if (stranger >= 0) return `invalid character: found \`${characters[stranger]}\` at ${stranger}`;
  const groups = text.split('-');
  if (groups.length === 1) return `invalid length: found ${text.length}`;
  if (groups.length !== groupLengths.length) return `invalid group count: expected 5, found ${groups.length}`;
  const wrong = groups.findIndex((group, index) => group.length !== groupLengths[index]);
  return `invalid group length in group ${wrong}: expected ${groupLengths[wrong]}, found ${groups[wrong]?.length}`;
}
