/** Time between two checks of the parent process, in milliseconds. */
const intervalMs = 500;

/**
 * Ends this process by SIGTERM once the shell in which npm runs it has ended. npm sends its signals to that shell, and dash, the shell of Debian and Ubuntu, ends
 * without passing them on. Does nothing without npm: a service may outlive the shell that started it.
 */
export function endWithNpm({ env }: Pick<NodeJS.Process, 'env'> = process): void {
  if (!env['npm_lifecycle_script']?.includes('cli/watchpost.ts')) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, intervalMs);
  timer.unref();
}
