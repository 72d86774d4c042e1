/**
 * A yard as a camera sees it: sensor noise, a clock overlay, and at a known moment a red car that drives in and stops. Made
 * by ffmpeg's own sources, so that it needs no file and no font.
 */
export type Scene = {
  /** Seconds from the start of the encoder to the car's arrival. */
  carAfterSeconds: number;
  /** Then it is gone, and all begins again; without it the car stays. */
  roundSeconds?: number;
  startsAt: Date;
};

const width = 1280;
const height = 720;
const framesPerSecond = 10;

/** Inputs and filter of the scene as ffmpeg arguments, in real time; the output's encoder follows them. */
export function sceneArguments(scene: Scene): string[] {
  const size = `${width}x${height}`;
  return [
    '-re',
    ...lavfi(`color=color=0x8a8f7a:size=${size}:rate=${framesPerSecond}`),
    '-re',
    ...lavfi(`color=color=0xc02020:size=300x110:rate=${framesPerSecond}`),
    '-filter_complex',
    `[0:v]${[...yard(), 'noise=alls=8:allf=t'].join(',')}[yard];[yard][1:v]overlay=eval=frame:y=470:x='${carPath(scene)}',${clock(scene).join(',')}[scene]`,
    '-map',
    '[scene]',
  ];
}

const sky = ['0x6f7f86', '0x738287', '0x778588', '0x7b8886', '0x7f8a83', '0x838c80', '0x878e7d', '0x8a8f7a'];

function lavfi(source: string): string[] {
  return ['-f', 'lavfi', '-i', source];
}

/** Sky, ground, gate and house. */
function yard(): string[] {
  return [
    ...sky.map((color, index) => box(0, index * 55, width, 55, color)),
    box(0, 440, width, 6, '0x59605a'),
    box(0, 446, width, 274, '0x5d5f5e'),
    box(160, 300, 14, 146, '0x4a4038'),
    box(420, 300, 14, 146, '0x4a4038'),
    box(174, 320, 246, 8, '0x6b5d50'),
    box(900, 250, 220, 196, '0x7a6f63'),
    box(980, 330, 60, 116, '0x3e4a52'),
  ];
}

/** Outside of the picture until its moment, then in from the left within a second. */
function carPath({ carAfterSeconds, roundSeconds }: Scene): string {
  const now = roundSeconds === undefined ? 't' : `mod(t,${roundSeconds})`;
  return `if(lt(${now},${carAfterSeconds}),-400,min(-300+(${now}-${carAfterSeconds})*700,480))`;
}

/** hh:mm:ss in UTC, in seven-segment digits of boxes that are switched on and off by the time. */
function clock({ startsAt }: Scene): string[] {
  const offset = startsAt.getUTCHours() * 3600 + startsAt.getUTCMinutes() * 60 + startsAt.getUTCSeconds();
  const now = `(t+${offset})`;
  const digits = [
    `mod(floor(${now}/36000),3)`,
    `mod(floor(${now}/3600),10)`,
    `mod(floor(${now}/600),6)`,
    `mod(floor(${now}/60),10)`,
    `mod(floor(${now}/10),6)`,
    `mod(floor(${now}),10)`,
  ];
  return digits.flatMap((digit, index) => segments(24 + index * 26 + Math.floor(index / 2) * 14, 20, digit));
}

/** Which digits light each of the seven segments, with its place in a digit of 18 by 32 pixels. */
const sevenSegments = [
  { lit: [0, 2, 3, 5, 6, 7, 8, 9], x: 3, y: 0, w: 12, h: 4 },
  { lit: [0, 1, 2, 3, 4, 7, 8, 9], x: 14, y: 3, w: 4, h: 12 },
  { lit: [0, 1, 3, 4, 5, 6, 7, 8, 9], x: 14, y: 17, w: 4, h: 12 },
  { lit: [0, 2, 3, 5, 6, 8, 9], x: 3, y: 28, w: 12, h: 4 },
  { lit: [0, 2, 6, 8], x: 0, y: 17, w: 4, h: 12 },
  { lit: [0, 4, 5, 6, 8, 9], x: 0, y: 3, w: 4, h: 12 },
  { lit: [2, 3, 4, 5, 6, 8, 9], x: 3, y: 14, w: 12, h: 4 },
];

function segments(left: number, top: number, digit: string): string[] {
  return sevenSegments.map(({ lit, x, y, w, h }) => {
    const isLit = lit.map((value) => `eq(${digit},${value})`).join('+');
    return `${box(left + x, top + y, w, h, 'white')}:enable='${isLit}'`;
  });
}

function box(x: number, y: number, w: number, h: number, color: string): string {
  return `drawbox=x=${x}:y=${y}:w=${w}:h=${h}:color=${color}:t=fill`;
}
