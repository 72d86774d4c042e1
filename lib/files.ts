import { fileURLToPath } from 'node:url';

/**
 * Folder of what a stack deploys beside its functions, with a trailing slash: that of the repository, or `dist` of the
 * packed construct, which has the same layout.
 */
export const projectFolder = fileURLToPath(new URL('../', import.meta.url));
