/** Text of a check that can vary. The rules against instructions in pictures are the same for all variants. */
export type PromptVariant = {
  /** Name and version, as events and reports show it. Changes with each change of the texts. */
  version: string;
  /** Field that the model writes first. */
  first: 'verdict' | 'evidence';
  /** Rule for doubtful pictures, at the end of the system text. */
  doubt: string;
  /** Last line of the request about one condition. */
  instruction: string;
  /** Last line of the request about several conditions. */
  jointInstruction: string;
  /** Last line of the request about conditions in several frames. */
  momentsInstruction: string;
  /** The model receives the frame of the check before, too. */
  withPrevious: boolean;
};

const verdictFirst = {
  version: 'verdict-first-1',
  first: 'verdict',
  doubt: 'When in doubt it does not.',
  instruction: 'Decide first, then explain in at most two short sentences which visible evidence decides it.',
  jointInstruction:
    'Answer with one verdict per condition and its id. Decide first, then explain in one short sentence which visible evidence decides it.',
  momentsInstruction:
    'Answer with one verdict per frame and condition, with both numbers. Decide first, then explain in one short sentence which visible evidence decides it.',
  withPrevious: false,
} as const satisfies PromptVariant;

/** Variants by the name of the setting. `watchpost evaluate --prompt` compares them. */
export const promptVariants = {
  /** A truncated answer still holds the verdict. */
  'verdict-first': verdictFirst,
  /** A small model describes better than it decides, and decides by what it has written. */
  'evidence-first': {
    version: 'evidence-first-1',
    first: 'evidence',
    doubt: 'When in doubt it does not.',
    instruction:
      'First name in at most two short sentences the visible evidence for and against the condition. Then decide by this evidence alone.',
    jointInstruction:
      'Answer with one entry per condition and its id. For each, first name the visible evidence for and against it in one short sentence, then decide by this evidence alone.',
    momentsInstruction:
      'Answer with one entry per frame and condition, with both numbers. For each, first name the visible evidence for and against it in one short sentence, then decide by this evidence alone.',
    withPrevious: false,
  },
  /** Fewer false alerts, more missed ones. */
  strict: {
    version: 'strict-1',
    first: 'verdict',
    doubt:
      'It holds only if each part of it is plainly visible: the thing itself, its number, its state and its place. A similar, partly hidden, blurred or distant thing is not enough. In each other case it does not hold.',
    instruction: verdictFirst.instruction,
    jointInstruction: verdictFirst.jointInstruction,
    momentsInstruction: verdictFirst.momentsInstruction,
    withPrevious: false,
  },
  /** For conditions about a change: what appears, leaves or moves. Twice the tokens of pictures. */
  'last-frame': { ...verdictFirst, version: 'last-frame-1', withPrevious: true },
} as const satisfies Record<string, PromptVariant>;

export type PromptName = keyof typeof promptVariants;
/** Names of the variants, the default first. */
export const promptNames = [
  'verdict-first',
  'evidence-first',
  'strict',
  'last-frame',
] as const satisfies readonly PromptName[];
/** Variant without a setting. */
export const defaultPrompt: PromptVariant = promptVariants['verdict-first'];
