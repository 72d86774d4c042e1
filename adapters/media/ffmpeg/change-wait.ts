/** Creates the wait of one reader for a change, or for a time. */
export function createChangeWait() {
  let wake: (() => void) | undefined;
  return {
    /** Resolves to true at the next `wake`, to false after the time. */
    within: (milliseconds: number): Promise<boolean> =>
      new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), milliseconds);
        wake = () => {
          clearTimeout(timer);
          resolve(true);
        };
      }),
    wake: () => wake?.(),
  };
}
