/** Signed URLs of streams and receivers, and the secrets in them. No key is real. */
export type SignedUrl = { kind: string; url: string; secrets: string[] };

const jwt = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJjYW1lcmEiLCJleHAiOjF9.c2lnbmF0dXJlLW9mLWp3dA';
const hex = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b';
const base64 = 'q83vEjRWeJq83vEjRWeJq83vEjRWeJ';
const base64url = 'Zk3_aB9-xQ7rT2_mN5vL8-cW1yH4uJ6sD0gP_eK';
const uuid = '3f2b8c1e-7a4d-4e09-9b6f-52d1c0a8e7b3';
const signature = jwt.split('.')[2]!;

/** Kind and secrets, and the URL below them. */
const list = `
CloudFront, a signed URL: ${base64} ${base64url} APKAEXAMPLE12345
  https://d111.cloudfront.test/live/index.m3u8?Policy=${base64}&Signature=${base64url}~&Key-Pair-Id=APKAEXAMPLE12345
CloudFront, a canned policy: abcDEF12 K2JCJMDE
  https://d111.cloudfront.test/live.m3u8?Expires=1900000000&Signature=abcDEF12&Key-Pair-Id=K2JCJMDE
Akamai, hdnts in the query: ${hex}
  https://cdn.akamai.test/hls/live/1/master.m3u8?hdnts=exp=1900000000~acl=/*~hmac=${hex}
Akamai, a token in the path: ${hex}
  https://cdn.akamai.test/hdntl=exp=1900000000~acl=%2f*~data=hdntl~hmac=${hex}/live/master.m3u8
Akamai, a short hmac: 0badcafe
  https://cdn.akamai.test/live.m3u8?hdnea=st=1~exp=2~acl=/*~hmac=0badcafe
AWS, Signature Version 4: AKIAEXAMPLE FwoGZXIvYXdz ${hex}
  https://bucket.s3.test/live.m3u8?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAEXAMPLE%2F20261121%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Security-Token=FwoGZXIvYXdz&X-Amz-Signature=${hex}
AWS, Signature Version 2: AKIAEXAMPLE vjbyPxybdZaNmGa
  https://bucket.s3.test/live.m3u8?AWSAccessKeyId=AKIAEXAMPLE&Expires=1900000000&Signature=vjbyPxybdZaNmGa%2ByT272YEAiv4%3D
Azure, a shared access signature: Zm9vYmFy
  https://account.blob.test/live/index.m3u8?sv=2024-11-04&se=2026-12-01&sr=c&sp=r&sig=Zm9vYmFy%2Bbaz%3D
Azure, a key of a function: aZ09bY18cX27
  https://hook.azurewebsites.test/api/alert?code=aZ09bY18cX27
Google Cloud Storage, V4: reader ${hex}
  https://storage.test/bucket/live.m3u8?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=reader%40project.iam&X-Goog-Signature=${hex}
Google Media CDN: harbour-key TkV3c2ln
  https://media.test/live.m3u8?Expires=1900000000&KeyName=harbour-key&Signature=TkV3c2ln
Wowza, secure token: mX-f4KqWBl1x
  https://wowza.test/live/yard/playlist.m3u8?wowzatokenendtime=1900000000&wowzatokenhash=mX-f4KqWBl1x
Nimble, wmsAuthSign: c2VydmVyX3RpbWU9MSZoYXNoX3ZhbHVlPTI
  https://nimble.test/live/yard/playlist.m3u8?wmsAuthSign=c2VydmVyX3RpbWU9MSZoYXNoX3ZhbHVlPTI=
a jwt in the query: ${jwt} ${signature}
  https://cdn.test/live.m3u8?jwt=${jwt}
a jwt in the path: ${jwt} ${signature}
  https://cdn.test/${jwt}/live.m3u8
basic authentication: s3cr3t
  https://viewer:s3cr3t@cdn.test/live.m3u8
a key as the user: ${hex}
  https://${hex}@cdn.test/live.m3u8
a key as the user, with no password: sk4711
  https://sk4711:@cdn.test/live.m3u8
RTSP, user and password: p%40ssw0rd ssw0rd
  rtsp://admin:p%40ssw0rd@camera.test:554/Streaming/Channels/101
a camera, user and password in the query: operator7 hunter22
  http://camera.test/video.m3u8?user=operator7&pwd=hunter22
a camera, user and password in the path: operator7 tlJwpbo6
  rtsp://camera.test:554/user=operator7&password=tlJwpbo6&channel=1&stream=0.sdp?real_stream
a camera, user and password in a word of the path: operator7 tlJwpbo6
  rtsp://camera.test/user=operator7_password=tlJwpbo6_channel=1_stream=0.sdp
a camera, a PIN: 13579
  http://camera.test/live.m3u8?channel=1&code=13579
a subscription of television: subscriber7 hunter22
  http://tv.test:8080/live/subscriber7/hunter22/4711.m3u8
a token in the path, hexadecimal: ${hex}
  https://cdn.test/${hex}/live.m3u8
a token in the path, base64url: ${base64url}
  https://cdn.test/s/${base64url}.m3u8
a token in the path, base64: ${base64}
  https://cdn.test/s/${encodeURIComponent(`${base64}==`)}/live.m3u8
a token in the path, a UUID: ${uuid}
  https://cdn.test/s/${uuid}/live.m3u8
a short token after its name: hunter22
  https://cdn.test/token/hunter22/live.m3u8
a session in the path: A1B2C3
  https://cdn.test/live;jsessionid=A1B2C3/index.m3u8
a session in the query: A1B2C3 d4c3b2
  https://cdn.test/live.m3u8?sid=A1B2C3&hash=d4c3b2
a value without a name: hunter22
  https://cdn.test/live.m3u8?hunter22
a fragment: hunter22
  https://cdn.test/live.m3u8#access_token=hunter22
a URL within the query: s3cr3t hunter22
  https://proxy.test/hls?url=${encodeURIComponent('https://viewer:s3cr3t@cdn.test/live.m3u8?token=hunter22')}
a URL within the path: hunter22
  https://proxy.test/${encodeURIComponent('https://cdn.test/live.m3u8?token=hunter22')}
a receiver of Slack: aB3dE5fG7hI9jK1lM3nO5pQ7
  https://hooks.slack.test/services/T0AB1CD2E/B0XY9ZK3L/aB3dE5fG7hI9jK1lM3nO5pQ7
`;

export const signedUrls: SignedUrl[] = list
  .trim()
  .split(/\n(?! )/)
  .map((entry) => {
    const [, kind = '', secrets = '', url = ''] = /^(.*?): (.*)\n *(.*)$/.exec(entry) ?? [];
    return { kind, url, secrets: secrets.split(' ') };
  });
