import { rtspCameras, startCamera } from './hostile-cameras.ts';

/** Plays the hostile cameras. Sends its parent their URLs. */

const servers = await Promise.all(rtspCameras.map(startCamera));
process.send?.(servers.map(({ url }) => url));
