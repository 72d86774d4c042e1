// Serves MPEG-TS that arrives by UDP as HLS of gohlslib.
package main

import (
	"log"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/bluenviron/gohlslib/v2"
	"github.com/bluenviron/gohlslib/v2/pkg/codecs"
	"github.com/bluenviron/mediacommon/v2/pkg/formats/mpegts"
)

type datagrams struct{ net.PacketConn }

func (d datagrams) Read(buffer []byte) (int, error) {
	count, _, err := d.ReadFrom(buffer)
	return count, err
}

var variants = map[string]gohlslib.MuxerVariant{
	"ts": gohlslib.MuxerVariantMPEGTS, "fmp4": gohlslib.MuxerVariantFMP4, "low-latency": gohlslib.MuxerVariantLowLatency,
}

var muxer atomic.Pointer[gohlslib.Muxer]

// Arguments: address of HTTP, address of UDP, variant.
func main() {
	go serve(os.Args[1])
	input, err := net.ListenPacket("udp", os.Args[2])
	check(err)
	reader := &mpegts.Reader{R: datagrams{input}}
	check(reader.Initialize())
	reader.OnDecodeError(func(error) {})
	clock := &mpegts.TimeDecoder{}
	clock.Initialize()
	for _, source := range reader.Tracks() {
		switch source.Codec.(type) {
		case *mpegts.CodecH264:
			track := start(&codecs.H264{})
			reader.OnDataH264(source, func(pts int64, _ int64, unit [][]byte) error {
				return muxer.Load().WriteH264(track, time.Now(), clock.Decode(pts), unit)
			})
		case *mpegts.CodecH265:
			track := start(&codecs.H265{})
			reader.OnDataH265(source, func(pts int64, _ int64, unit [][]byte) error {
				return muxer.Load().WriteH265(track, time.Now(), clock.Decode(pts), unit)
			})
		}
	}
	for {
		check(reader.Read())
	}
}

func start(codec codecs.Codec) *gohlslib.Track {
	track := &gohlslib.Track{Codec: codec, ClockRate: 90000}
	created := &gohlslib.Muxer{Tracks: []*gohlslib.Track{track}, Variant: variants[os.Args[3]]}
	check(created.Start())
	muxer.Store(created)
	return track
}

// Answers 404 until a stream arrives.
func serve(address string) {
	check(http.ListenAndServe(address, http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		if created := muxer.Load(); created != nil {
			created.Handle(response, request)
		} else {
			http.NotFound(response, request)
		}
	})))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
