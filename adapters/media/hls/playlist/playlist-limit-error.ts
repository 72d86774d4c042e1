/** Remedies by what a playlist has too much of. */
const remedies = {
  'many lines': 'Use one with a shorter DVR window.',
  'long lines': 'Use one with shorter URLs: without tokens in each line, or variables that repeat them.',
};

/** Error for a playlist with more lines or tags, or longer ones, than are read. */
export class PlaylistLimitError extends Error {
  override readonly name = 'PlaylistLimitError';
  readonly remedy: string;

  constructor(excess: keyof typeof remedies) {
    super(`The playlist has too ${excess}`);
    this.remedy = remedies[excess];
  }
}
