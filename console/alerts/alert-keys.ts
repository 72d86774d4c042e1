export type ReviewAction = 'right' | 'wrong' | 'acknowledge';
export type AlertAction = 'next' | 'previous' | ReviewAction;

const actions: { [Key in string]?: AlertAction } = {
  j: 'next',
  k: 'previous',
  r: 'right',
  w: 'wrong',
  a: 'acknowledge',
};

type Press = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** Returns the action of a key; undefined for another key, and for shortcuts of the browser. */
export function findAlertAction({ key, ctrlKey, metaKey, altKey }: Press): AlertAction | undefined {
  return ctrlKey || metaKey || altKey ? undefined : actions[key.toLowerCase()];
}
