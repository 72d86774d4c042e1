/** Wait of one reader for a change, or for a time. */
type ChangeWait = {
  /** Resolves to true at the next `wake`, to false after the time. */
  within(milliseconds: number): Promise<boolean>;
  wake(): void;
};

export function createChangeWait(): ChangeWait {
  let wake: (() => void) | undefined;
  return {
    within: (milliseconds) =>
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
