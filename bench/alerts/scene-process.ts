import { startLiveHls } from '../../cli/demo/live-hls.ts';
import { startRtspServer } from '../../cli/demo/rtsp-server.ts';
import { sceneArguments } from '../../cli/demo/scene.ts';

/**
 * Serves the scene of `npm run stream` over HLS and RTSP: a stop sign arrives every `roundSeconds` and is absent half of the time. Sends both addresses as
 * JSON. A process of its own, whose processor time does not count. Usage: scene-process.ts <ffmpeg> <roundSeconds>
 */

process.on('disconnect', () => process.exit());
const [ffmpegPath = 'ffmpeg', round = '24'] = process.argv.slice(2);
const roundSeconds = Number(round);
const inputArgs = sceneArguments({ signAfterSeconds: roundSeconds / 2, roundSeconds, startsAt: new Date() });
const rtsp = await startRtspServer({ ffmpegPath, inputArgs, path: '/yard', keyFrameEvery: 10 });
const hls = await startLiveHls({ ffmpegPath, inputArgs, segmentSeconds: 1, host: '127.0.0.1' });
process.send?.(JSON.stringify({ hls: hls.url, rtsp: rtsp.url }));
