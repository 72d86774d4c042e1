import type { Alert } from '../api/types.ts';

/** Explanations of an alert for display, with the sentence that names the model once. */
export type AlertTexts = {
  texts: { label: 'Opened' | 'Closed' | null; text: string }[];
  /** Sentence at the end of both explanations; empty if they have none in common. */
  ending: string;
};

/** Returns the explanation of an open alert, or those of the opening and the closing of a closed one. */
export function toAlertTexts({ explanation, closed }: Pick<Alert, 'explanation' | 'closed'>): AlertTexts {
  if (!closed?.explanation) return { texts: [{ label: null, text: explanation }], ending: '' };
  const ending = findLastSentence(explanation);
  const isShared = ending !== '' && closed.explanation.endsWith(ending);
  const cut = (text: string) => (isShared ? text.slice(0, text.length - ending.length).trim() : text);
  return {
    texts: [
      { label: 'Opened', text: cut(explanation) },
      { label: 'Closed', text: cut(closed.explanation) },
    ],
    ending: isShared ? ending : '',
  };
}

/** Returns an empty text if there is only one sentence. */
function findLastSentence(text: string): string {
  const end = text.lastIndexOf('. ');
  return end === -1 ? '' : text.slice(end + 2);
}
