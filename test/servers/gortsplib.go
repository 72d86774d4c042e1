// RTSP server of gortsplib, by its example, with a stream for each path: it forwards what a publisher sends, over TCP.
package main

import (
	"log"
	"os"
	"sync"

	"github.com/bluenviron/gortsplib/v5"
	"github.com/bluenviron/gortsplib/v5/pkg/base"
	"github.com/bluenviron/gortsplib/v5/pkg/description"
	"github.com/bluenviron/gortsplib/v5/pkg/format"
	"github.com/pion/rtp"
)

type publication struct {
	stream    *gortsplib.ServerStream
	publisher *gortsplib.ServerSession
}

type handler struct {
	server *gortsplib.Server
	mutex  sync.RWMutex
	paths  map[string]publication
}

// The server adds headers to a response.
func ok() *base.Response {
	return &base.Response{StatusCode: base.StatusOK}
}

func (h *handler) OnSessionClose(ctx *gortsplib.ServerHandlerOnSessionCloseCtx) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	for path, found := range h.paths {
		if found.publisher == ctx.Session {
			found.stream.Close()
			delete(h.paths, path)
		}
	}
}

func (h *handler) OnDescribe(ctx *gortsplib.ServerHandlerOnDescribeCtx) (*base.Response, *gortsplib.ServerStream, error) {
	return h.find(ctx.Path)
}

func (h *handler) OnAnnounce(ctx *gortsplib.ServerHandlerOnAnnounceCtx) (*base.Response, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if found, exists := h.paths[ctx.Path]; exists {
		found.stream.Close()
		found.publisher.Close()
	}
	stream := &gortsplib.ServerStream{Server: h.server, Desc: ctx.Description}
	h.paths[ctx.Path] = publication{stream, ctx.Session}
	return ok(), stream.Initialize()
}

func (h *handler) OnSetup(ctx *gortsplib.ServerHandlerOnSetupCtx) (*base.Response, *gortsplib.ServerStream, error) {
	if ctx.Session.State() == gortsplib.ServerSessionStatePreRecord {
		return ok(), nil, nil
	}
	return h.find(ctx.Path)
}

func (h *handler) OnPlay(*gortsplib.ServerHandlerOnPlayCtx) (*base.Response, error) {
	return ok(), nil
}

func (h *handler) OnRecord(ctx *gortsplib.ServerHandlerOnRecordCtx) (*base.Response, error) {
	_, stream, _ := h.find(ctx.Path)
	ctx.Session.OnPacketRTPAny(func(media *description.Media, _ format.Format, packet *rtp.Packet) {
		_ = stream.WritePacketRTP(media, packet)
	})
	return ok(), nil
}

// Answers 404 until a stream is published.
func (h *handler) find(path string) (*base.Response, *gortsplib.ServerStream, error) {
	h.mutex.RLock()
	defer h.mutex.RUnlock()
	found, exists := h.paths[path]
	if !exists {
		return &base.Response{StatusCode: base.StatusNotFound}, nil, nil
	}
	return ok(), found.stream, nil
}

// Argument: address.
func main() {
	h := &handler{paths: map[string]publication{}}
	h.server = &gortsplib.Server{Handler: h, RTSPAddress: os.Args[1]}
	log.Fatal(h.server.StartAndWait())
}
