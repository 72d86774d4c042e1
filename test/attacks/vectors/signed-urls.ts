/** Signed URLs of streams and receivers, and the secrets in them. No key is real. */
export type SignedUrl = { kind: string; url: string; secrets: string[] };

const jwt = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJjYW1lcmEiLCJleHAiOjF9.c2lnbmF0dXJlLW9mLWp3dA';
const hex = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b';
const base64 = 'q83vEjRWeJq83vEjRWeJq83vEjRWeJ';
const base64url = 'Zk3_aB9-xQ7rT2_mN5vL8-cW1yH4uJ6sD0gP_eK';
const uuid = '3f2b8c1e-7a4d-4e09-9b6f-52d1c0a8e7b3';

export const signedUrls: SignedUrl[] = [
  {
    kind: 'CloudFront, a signed URL',
    url: `https://d111.cloudfront.test/live/index.m3u8?Policy=${base64}&Signature=${base64url}~&Key-Pair-Id=APKAEXAMPLE12345`,
    secrets: [base64, base64url, 'APKAEXAMPLE12345'],
  },
  {
    kind: 'CloudFront, a canned policy',
    url: `https://d111.cloudfront.test/live.m3u8?Expires=1900000000&Signature=abcDEF12&Key-Pair-Id=K2JCJMDE`,
    secrets: ['abcDEF12', 'K2JCJMDE'],
  },
  {
    kind: 'Akamai, hdnts in the query',
    url: `https://cdn.akamai.test/hls/live/1/master.m3u8?hdnts=exp=1900000000~acl=/*~hmac=${hex}`,
    secrets: [hex],
  },
  {
    kind: 'Akamai, a token in the path',
    url: `https://cdn.akamai.test/hdntl=exp=1900000000~acl=%2f*~data=hdntl~hmac=${hex}/live/master.m3u8`,
    secrets: [hex],
  },
  {
    kind: 'Akamai, a short hmac',
    url: 'https://cdn.akamai.test/live.m3u8?hdnea=st=1~exp=2~acl=/*~hmac=0badcafe',
    secrets: ['0badcafe'],
  },
  {
    kind: 'AWS, Signature Version 4',
    url: `https://bucket.s3.test/live.m3u8?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAEXAMPLE%2F20261121%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Security-Token=FwoGZXIvYXdz&X-Amz-Signature=${hex}`,
    secrets: ['AKIAEXAMPLE', 'FwoGZXIvYXdz', hex],
  },
  {
    kind: 'AWS, Signature Version 2',
    url: 'https://bucket.s3.test/live.m3u8?AWSAccessKeyId=AKIAEXAMPLE&Expires=1900000000&Signature=vjbyPxybdZaNmGa%2ByT272YEAiv4%3D',
    secrets: ['AKIAEXAMPLE', 'vjbyPxybdZaNmGa'],
  },
  {
    kind: 'Azure, a shared access signature',
    url: 'https://account.blob.test/live/index.m3u8?sv=2024-11-04&se=2026-12-01&sr=c&sp=r&sig=Zm9vYmFy%2Bbaz%3D',
    secrets: ['Zm9vYmFy'],
  },
  {
    kind: 'Azure, a key of a function',
    url: 'https://hook.azurewebsites.test/api/alert?code=aZ09bY18cX27',
    secrets: ['aZ09bY18cX27'],
  },
  {
    kind: 'Google Cloud Storage, V4',
    url: `https://storage.test/bucket/live.m3u8?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=reader%40project.iam&X-Goog-Signature=${hex}`,
    secrets: ['reader', hex],
  },
  {
    kind: 'Google Media CDN',
    url: 'https://media.test/live.m3u8?Expires=1900000000&KeyName=harbour-key&Signature=TkV3c2ln',
    secrets: ['harbour-key', 'TkV3c2ln'],
  },
  {
    kind: 'Wowza, secure token',
    url: 'https://wowza.test/live/yard/playlist.m3u8?wowzatokenendtime=1900000000&wowzatokenhash=mX-f4KqWBl1x',
    secrets: ['mX-f4KqWBl1x'],
  },
  {
    kind: 'Nimble, wmsAuthSign',
    url: 'https://nimble.test/live/yard/playlist.m3u8?wmsAuthSign=c2VydmVyX3RpbWU9MSZoYXNoX3ZhbHVlPTI=',
    secrets: ['c2VydmVyX3RpbWU9MSZoYXNoX3ZhbHVlPTI'],
  },
  {
    kind: 'a jwt in the query',
    url: `https://cdn.test/live.m3u8?jwt=${jwt}`,
    secrets: [jwt, jwt.split('.')[2]!],
  },
  { kind: 'a jwt in the path', url: `https://cdn.test/${jwt}/live.m3u8`, secrets: [jwt, jwt.split('.')[2]!] },
  { kind: 'basic authentication', url: 'https://viewer:s3cr3t@cdn.test/live.m3u8', secrets: ['s3cr3t'] },
  { kind: 'a key as the user', url: `https://${hex}@cdn.test/live.m3u8`, secrets: [hex] },
  {
    kind: 'a key as the user, with no password',
    url: 'https://sk4711:@cdn.test/live.m3u8',
    secrets: ['sk4711'],
  },
  {
    kind: 'RTSP, user and password',
    url: 'rtsp://admin:p%40ssw0rd@camera.test:554/Streaming/Channels/101',
    secrets: ['p%40ssw0rd', 'ssw0rd'],
  },
  {
    kind: 'a camera, user and password in the query',
    url: 'http://camera.test/video.m3u8?user=operator7&pwd=hunter22',
    secrets: ['operator7', 'hunter22'],
  },
  {
    kind: 'a camera, user and password in the path',
    url: 'rtsp://camera.test:554/user=operator7&password=tlJwpbo6&channel=1&stream=0.sdp?real_stream',
    secrets: ['operator7', 'tlJwpbo6'],
  },
  {
    kind: 'a camera, user and password in a word of the path',
    url: 'rtsp://camera.test/user=operator7_password=tlJwpbo6_channel=1_stream=0.sdp',
    secrets: ['operator7', 'tlJwpbo6'],
  },
  {
    kind: 'a camera, a PIN',
    url: 'http://camera.test/live.m3u8?channel=1&code=13579',
    secrets: ['13579'],
  },
  {
    kind: 'a subscription of television',
    url: 'http://tv.test:8080/live/subscriber7/hunter22/4711.m3u8',
    secrets: ['subscriber7', 'hunter22'],
  },
  { kind: 'a token in the path, hexadecimal', url: `https://cdn.test/${hex}/live.m3u8`, secrets: [hex] },
  {
    kind: 'a token in the path, base64url',
    url: `https://cdn.test/s/${base64url}.m3u8`,
    secrets: [base64url],
  },
  {
    kind: 'a token in the path, base64',
    url: `https://cdn.test/s/${encodeURIComponent(`${base64}==`)}/live.m3u8`,
    secrets: [base64],
  },
  { kind: 'a token in the path, a UUID', url: `https://cdn.test/s/${uuid}/live.m3u8`, secrets: [uuid] },
  {
    kind: 'a short token after its name',
    url: 'https://cdn.test/token/hunter22/live.m3u8',
    secrets: ['hunter22'],
  },
  {
    kind: 'a session in the path',
    url: 'https://cdn.test/live;jsessionid=A1B2C3/index.m3u8',
    secrets: ['A1B2C3'],
  },
  {
    kind: 'a session in the query',
    url: 'https://cdn.test/live.m3u8?sid=A1B2C3&hash=d4c3b2',
    secrets: ['A1B2C3', 'd4c3b2'],
  },
  { kind: 'a value without a name', url: 'https://cdn.test/live.m3u8?hunter22', secrets: ['hunter22'] },
  { kind: 'a fragment', url: 'https://cdn.test/live.m3u8#access_token=hunter22', secrets: ['hunter22'] },
  {
    kind: 'a URL within the query',
    url: `https://proxy.test/hls?url=${encodeURIComponent('https://viewer:s3cr3t@cdn.test/live.m3u8?token=hunter22')}`,
    secrets: ['s3cr3t', 'hunter22'],
  },
  {
    kind: 'a URL within the path',
    url: `https://proxy.test/${encodeURIComponent('https://cdn.test/live.m3u8?token=hunter22')}`,
    secrets: ['hunter22'],
  },
  {
    kind: 'a receiver of Slack',
    url: 'https://hooks.slack.test/services/T0AB1CD2E/B0XY9ZK3L/aB3dE5fG7hI9jK1lM3nO5pQ7',
    secrets: ['aB3dE5fG7hI9jK1lM3nO5pQ7'],
  },
];
