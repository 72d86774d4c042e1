/** Frequent words of languages that are no English words, or hardly occur in conditions. */
const frequent: Record<string, ReadonlySet<string>> = {
  German: set(
    'der die das ein eine einen einem ist sind nicht kein keine keinen und oder im auf dem den vor mit wird wenn sobald jemand niemand mann frau hund katze bild zwei drei',
  ),
  French: set(
    'le la les une des est sont dans pas et ou avec sur il y personne aucun aucune devant quand homme femme chien chat deux trois au aux du qui',
  ),
  Spanish: set(
    'el los las una unos es está están hay en y con sin ningún ninguna nadie cuando alguien hombre mujer perro gato dos tres del puerta persona personas',
  ),
  Italian: set(
    'il lo gli una uno è sono c non e con senza nessuno quando qualcuno uomo donna cane gatto due tre nel nella alla porta sulla persone',
  ),
  Dutch: set(
    'het een is zijn niet geen en of op bij met voor er wanneer iemand niemand hond kat twee drie deur staat persoon',
  ),
  Portuguese: set(
    'um uma os as é está estão há em não e ou com sem ninguém quando alguém homem mulher cão gato dois três na no porta pessoa pessoas',
  ),
};
/** Words that the lists share with English. */
const english = set(
  'a is the at in on of and or no not person are there with die an i me as it if when to he for',
);

/** Returns the language of a text that is not English, `another language` for other scripts, or null. */
export function foreignLanguage(text: string): string | null {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  const foreignScript = words.filter((word) => /[^\p{Script=Latin}]/u.test(word)).length;
  if (foreignScript > 0 && foreignScript >= words.length / 2) return 'another language';
  const score = (list: ReadonlySet<string>) =>
    words.filter((word) => list.has(word) && !english.has(word)).length;
  const [name, best] = Object.entries(frequent).reduce<[string, number]>(
    (top, [language, list]) => (score(list) > top[1] ? [language, score(list)] : top),
    ['', 0],
  );
  const englishWords = words.filter(
    (word) =>
      english.has(word) &&
      !['person', 'is', 'no', 'in', 'a', 'an', 'me', 'as', 'on', 'die', 'he'].includes(word),
  ).length;
  return best >= 2 && best > englishWords ? name : null;
}

function set(list: string): ReadonlySet<string> {
  return new Set(list.split(' '));
}
