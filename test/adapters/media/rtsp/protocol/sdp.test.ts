import { describe, expect, test } from 'vitest';
import {
  isRecording,
  parseSdp,
  describeTrack,
  findVideoTrack,
} from '../../../../../adapters/media/rtsp/protocol/sdp.ts';

const base = 'rtsp://cam/live/';
const video = (lines: string[], before: string[] = []): string =>
  ['v=0', ...before, 'm=audio 0 RTP/AVP 8', 'a=control:audio', 'm=video 0 RTP/AVP 96', ...lines].join('\r\n');
const h264 = 'a=rtpmap:96 H264/90000';

describe('session description', () => {
  test.each([
    ['npt=now-', false],
    ['npt=0-', false],
    ['npt=0.000-', false],
    ['npt=now-now', false],
    ['npt=0-0', false],
    ['npt=0.000000-18446744073709.551615', false],
    ['clock=20260101T100000Z-', false],
    ['nonsense', false],
    ['npt=0-20', true],
    ['npt=0.000-0.500', true],
    [' npt = 0 - 00:10:05.3', true],
    ['clock=20260101T100000Z-20260101T101500Z', true],
    ['smpte-25=10:07:00-10:07:33', true],
  ])('a session with the range %s is a recording: %s', (range, recording) => {
    expect(isRecording(parseSdp(video([h264], [`a=range:${range}`])))).toBe(recording);
    expect(isRecording(parseSdp(video([h264, `a=range:${range}`])))).toBe(recording);
  });

  test('white space of 60,000 characters in a range is read in linear time', () => {
    const before = process.threadCpuUsage();
    const spaces = ' '.repeat(60_000);
    for (const [value, recording] of [
      [`npt=${spaces}x`, false],
      [`npt=${spaces}-5`, true],
    ] as const) {
      expect(isRecording({ attributes: [{ name: 'range', value }], media: [] })).toBe(recording);
      expect(isRecording(parseSdp(`v=0\r\na=range:${value}`))).toBe(false);
    }
    // The attack took 5,600 ms.
    expect(process.threadCpuUsage(before).user / 1000).toBeLessThan(1000);
  });

  test('an attribute above 1 kB is ignored', () => {
    const long = 'x'.repeat(1020);
    expect(parseSdp(`a=fmtp:${long}\r\na=b:1`).attributes).toEqual([{ name: 'b', value: '1' }]);
  });

  test('a session without a range is live', () => {
    expect(isRecording(parseSdp(video([h264])))).toBe(false);
  });
});

const track = (lines: string[], before: string[] = []) =>
  findVideoTrack(parseSdp(video(lines, before)), base);

describe('findVideoTrack', () => {
  test('the video track is found among others, with its parameters', () => {
    const found = track([h264, 'a=fmtp:96 sprop-parameter-sets=Z0,aM', 'a=control:trackID=1']);
    expect(found).toEqual({
      codec: 'H264',
      payloadType: 96,
      clockRate: 90_000,
      parameters: 'sprop-parameter-sets=Z0,aM',
      controlUrl: 'rtsp://cam/live/trackID=1',
      sessionUrl: 'rtsp://cam/live/',
    });
  });

  test('attributes are read with tabs in place of spaces', () => {
    const tabbed = [h264.replace(' ', '\t'), 'a=fmtp:96\tsprop-parameter-sets=Z0,aM'];
    expect(track(tabbed)).toMatchObject({ codec: 'H264', parameters: 'sprop-parameter-sets=Z0,aM' });
  });

  test.each([
    ['track1', 'rtsp://cam/live', 'rtsp://cam/live/track1'],
    ['track1', 'rtsp://cam/live?channel=1', 'rtsp://cam/live?channel=1/track1'],
    ['rtsp://10.0.0.1:8554/x/track1', 'rtsp://cam/live', 'rtsp://10.0.0.1:8554/x/track1'],
    ['*', 'rtsp://cam/live', 'rtsp://cam/live'],
    ['bad\u0000control', 'rtsp://cam/live', 'rtsp://cam/live'],
  ])('a track with the control %s at %s is set up at %s', (control, baseUrl, expected) => {
    const session = parseSdp(video([h264, `a=control:${control}`]));
    expect(findVideoTrack(session, baseUrl)?.controlUrl).toBe(expected);
  });

  test('a track is played at the control URL of the session, if it has one', () => {
    expect(track([h264], ['a=control:*'])?.sessionUrl).toBe(base);
    expect(track([h264], ['a=control:rtsp://inner/all'])?.sessionUrl).toBe('rtsp://inner/all');
  });

  test('a relative control is joined to that of the session, if it has one', () => {
    const [session] = ['a=control:rtsp://cam:554/session/77'];
    expect(track([h264, 'a=control:track1'], [session])?.controlUrl).toBe('rtsp://cam:554/session/77/track1');
  });

  test.each([
    ['a space behind the name', 'x=1', ['a=rtpmap: 96 H264/90000', 'a=fmtp: 96 x=1']],
    ['no clock rate', 'x=1', ['a=rtpmap:96 H264', 'a=fmtp:96 x=1']],
    ['two lines of parameters', 'x=1;z=1', [h264, 'a=fmtp:96 x=1', 'a=fmtp:97 y=1', 'a=fmtp:96 z=1']],
    ['indented lines', 'x=1', [' a=rtpmap:96 H264/90000', '\ta=fmtp:96 x=1']],
  ])('a track may be described with %s', (_oddity, parameters, lines) => {
    expect(track(lines)).toMatchObject({ codec: 'H264', clockRate: 90_000, parameters });
  });

  test('a track may be motion JPEG, which needs no rtpmap', () => {
    const session = parseSdp('v=0\nm=video 0 RTP/AVP 26\na=control:1');
    expect(findVideoTrack(session, base)).toMatchObject({ codec: 'JPEG', payloadType: 26 });
  });

  test.each(['RTP/AVP', 'RTP/AVPF', 'RTP/AVP/TCP', 'TCP/RTP/AVP', 'rtp/avp'])(
    'a track may have the protocol %s',
    (protocol) => {
      const text = `v=0\nm=video 0 ${protocol} 96\n${h264}`;
      expect(findVideoTrack(parseSdp(text), base)).toMatchObject({ codec: 'H264' });
    },
  );

  test.each([
    ['audio only', 'v=0\nm=audio 0 RTP/AVP 8'],
    ['an unknown codec', 'v=0\nm=video 0 RTP/AVP 96\na=rtpmap:96 x-pn-realvideo/90000'],
    ['SRTP', 'v=0\nm=video 0 RTP/SAVP 96\na=rtpmap:96 H264/90000'],
    ['a malformed clock rate', 'v=0\nm=video 0 RTP/AVP 96\na=rtpmap:96 H264/x'],
    ['nothing', ''],
  ])('no track is found in a description with %s', (_, text) => {
    expect(findVideoTrack(parseSdp(text), base)).toBeNull();
  });

  test("the description for ffmpeg contains nothing else of the server's text", () => {
    const found = track([h264, 'a=fmtp:96 x=1', 'a=evil:1'], ['a=tool:evil', 'i=evil', 'c=IN IP4 10.0.0.1']);
    const text = describeTrack(found!, 'rtsp://127.0.0.1:1/secret/video');
    expect(text).not.toMatch(/evil|10\.0\.0\.1/);
    expect(text).toContain(
      'm=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\na=fmtp:96 x=1\r\na=control:rtsp://127.0.0.1:1/secret/video\r\n',
    );
  });
});
