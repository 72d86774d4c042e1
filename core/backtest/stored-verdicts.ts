import type { MediaStore } from '../ports/media-store.ts';
import { alwaysLoaded, anyCondition, type VisionModel } from '../ports/vision-model.ts';
import type { ConditionVerdict } from '../records/vision.ts';
import { toKey, type JudgedMoment } from './played-capture.ts';

/** Pictures and verdicts of the capture under way, as a run reads them. */
export type StoredVerdicts = {
  vision: VisionModel;
  media: MediaStore;
  show(moments: readonly JudgedMoment[]): void;
};

const refuse = async () => Promise.reject(new Error('A backtest asks about conditions only'));

/** Creates a model and a store that have the stored verdicts of moments on a condition. */
export function createStoredVerdicts(conditionId: string): StoredVerdicts {
  /** Stands for the pictures: nothing needs their bytes. */
  const pictures = new Map<string, Uint8Array>();
  const verdicts = new WeakMap<Uint8Array, ConditionVerdict>();
  return {
    show: (moments) => {
      pictures.clear();
      for (const { id, triggered, explanation } of moments) {
        const bytes = new Uint8Array();
        pictures.set(toKey(id), bytes);
        verdicts.set(bytes, { condition_id: conditionId, triggered, explanation });
      }
    },
    media: {
      put: async () => undefined,
      get: async (key) => pictures.get(key),
      remove: async () => undefined,
      removeOfSource: async () => 0,
    },
    vision: {
      provider: 'backtest',
      model: 'backtest',
      capabilities: { ...anyCondition, judgesMoments: true },
      lifecycle: alwaysLoaded,
      judge: async ({ frame, earlier = [] }) => ({
        moments: [...earlier.map((before) => before.frame), frame].map((bytes) => {
          const verdict = verdicts.get(bytes);
          return verdict ? [verdict] : [];
        }),
        tokens: { input_tokens: 0, output_tokens: 0 },
      }),
      answer: refuse,
      words: refuse,
      matches: refuse,
      answerAbout: refuse,
      summarize: refuse,
    },
  };
}
