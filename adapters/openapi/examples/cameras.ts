export const cameras = {
  cameras: [{ address: '192.168.1.20:8000', name: 'Lock camera', hardware: 'DS-2CD2143' }],
  ranges: ['192.168.1.0/24'],
  outside: [],
};

export const cameraStreamsRequest = { address: '192.168.1.20:8000', username: 'watchpost', password: 'p@ss' };

export const cameraStreams = {
  profiles: [
    {
      name: 'main',
      codec: 'H264',
      width: 2560,
      height: 1440,
      stream_url: 'rtsp://192.168.1.20:554/Streaming/Channels/101',
      snapshot_url: 'http://192.168.1.20/snapshot.jpg',
    },
  ],
  clock_offset_seconds: 0,
};
