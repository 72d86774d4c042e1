#!/bin/sh
# Builds an ffmpeg with only the features that captures need: no network except the loopback of the RTSP relay, no devices, no files except clips.
# Requires Debian or Ubuntu with its build tools; takes a few minutes. Usage: build-minimal.sh SOURCE_FOLDER OUTPUT_FILE
#   apt-get install --no-install-recommends build-essential nasm pkg-config libx264-dev libdav1d-dev
#   apt-get source ffmpeg          (or an unpacked release from ffmpeg.org, checked against its signature)
# libx264 is licensed under the GPL, and so is the result: distributing it requires offering its source code.
set -eu
source_folder=$(cd "$1" && pwd)
output=$2
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
cd "$build"

# AV1 in software needs dav1d as a static library, which Debian does not provide. Set its prefix in PKG_CONFIG_PATH to include it.
dav1d=
if pkg-config --exists dav1d && [ -e "$(pkg-config --variable=libdir dav1d)/libdav1d.a" ]; then
  dav1d='--enable-libdav1d --enable-decoder=libdav1d'
fi

# shellcheck disable=SC2086
"$source_folder/configure" \
  --disable-everything --disable-autodetect --disable-doc --disable-debug --disable-shared --enable-static \
  --disable-ffplay --disable-ffprobe --disable-avdevice --enable-gpl --enable-libx264 $dav1d \
  --enable-protocol=pipe,file,tcp,rtp \
  --enable-demuxer=mpegts,mov,rtsp,h264,image2pipe,rawvideo,mjpeg \
  --enable-muxer=image2pipe,rawvideo,mp4,mkvtimestamp_v2,null \
  --enable-decoder=h264,hevc,vp8,vp9,mpeg2video,mpeg4,mjpeg,rawvideo \
  --enable-encoder=mjpeg,rawvideo,libx264 \
  --enable-parser=h264,hevc,vp8,vp9,av1,mpegvideo,mpeg4video,mjpeg \
  --enable-bsf=h264_mp4toannexb,hevc_mp4toannexb,extract_extradata,vp9_superframe_split,av1_frame_split \
  --enable-filter=scale,setsar,split,trim,setpts,settb,fps,select,format,null,pad,transpose,hflip,vflip,drawbox \
  --extra-ldflags=-static --pkg-config-flags=--static
make -j"$(nproc)" ffmpeg
strip ffmpeg
cp ffmpeg "$output"
"$output" -hide_banner -version | head -n 1
