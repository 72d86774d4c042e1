import type { HostileFile, Site } from './vector.ts';

/** Bodies that ffmpeg, if it detects the format of its input, reads as a list of further files to open. */
export const lists: Record<string, string> = {
  'an ffconcat script': "ffconcat version 1.0\nfile '{file}'\nfile 'http://127.0.0.1:{port}/x.ts'\n",
  'an HLS playlist':
    '#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nhttp://127.0.0.1:{port}/x.ts\n#EXTINF:2,\nfile://{file}\n',
  'a playlist of file names': '#EXTM3U\n{file}\nhttp://127.0.0.1:{port}/x.mp3\n',
  'a playlist without a head': '{file}\nhttp://127.0.0.1:{port}/x.mp3\n',
  'a DASH manifest':
    '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="dynamic"><BaseURL>http://127.0.0.1:{port}/</BaseURL><Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1"><SegmentList><Initialization sourceURL="http://127.0.0.1:{port}/i"/><SegmentURL media="file://{file}"/></SegmentList></Representation></AdaptationSet></Period></MPD>',
  'a session description':
    'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=video {port} RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n',
  'a web page':
    '<html><head><meta http-equiv="refresh" content="0;url=http://127.0.0.1:{port}/"></head></html>',
  'a PLS list': '[playlist]\nFile1=http://127.0.0.1:{port}/x\nFile2={file}\nNumberOfEntries=2\n',
  'an ASX list': '<asx version="3.0"><entry><ref href="http://127.0.0.1:{port}/x"/></entry></asx>',
  'an XSPF list':
    '<playlist version="1" xmlns="http://xspf.org/ns/0/"><trackList><track><location>http://127.0.0.1:{port}/x</location></track></trackList></playlist>',
  'a SMIL presentation':
    '<smil><body><video src="http://127.0.0.1:{port}/x"/><video src="file://{file}"/></body></smil>',
  'an SVG picture':
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="http://127.0.0.1:{port}/x"/></svg>',
  'an IMF composition':
    '<CompositionPlaylist xmlns="http://www.smpte-ra.org/schemas/2067-3/2016"><Path>{file}</Path></CompositionPlaylist>',
  'an XML entity': '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file://{file}">]><MPD>&b;</MPD>',
  'a reference to a stream': 'rtsptext\nrtsp://127.0.0.1:{port}/x\n',
  'a RealMedia reference': '.rm rtsp://127.0.0.1:{port}/x',
  'a name of a protocol': 'concat:{file}|http://127.0.0.1:{port}/x',
  'a Windows shortcut': '[InternetShortcut]\nURL=file://{file}\n',
};

/** As the playlist itself, as a segment, and as a fragment behind an init section that is one as well. */
export const bodies: Site[] = Object.entries(lists).flatMap(([name, body]) => [
  site(`${name} for a playlist`, { 'live.m3u8': body }),
  site(`${name} for a segment`, { 'live.m3u8': live('#EXTINF:2,', 'hostile.ts'), 'hostile.ts': body }),
  site(`${name} for an init section`, {
    'live.m3u8': live('#EXT-X-MAP:URI="hostile.mp4"', '#EXTINF:2,', 'hostile.mp4'),
    'hostile.mp4': body,
  }),
]);

/** A whole MOV for a segment. */
export function moviesWith(movies: Record<string, Buffer>): Site[] {
  return Object.entries(movies).map(([name, movie]) =>
    site(name, { 'live.m3u8': live('#EXTINF:2,', 'hostile.mov'), 'hostile.mov': movie }),
  );
}

function site(name: string, files: Record<string, HostileFile>): Site {
  return { name, entry: 'live.m3u8', files };
}

function live(...lines: string[]): string {
  return ['#EXTM3U', '#EXT-X-TARGETDURATION:2', ...lines].join('\n');
}
