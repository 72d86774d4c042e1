/**
 * Returns a callback that does not throw: what the callback of a socket, timer or child process throws ends the
 * process, where no `try` of its opener reaches. `fail` must not throw.
 */
export function contained<Args extends readonly unknown[]>(
  run: (...args: Args) => void,
  fail: (error: unknown) => void,
): (...args: Args) => void {
  return (...args) => {
    try {
      run(...args);
    } catch (error) {
      fail(error);
    }
  };
}
