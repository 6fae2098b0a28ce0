package studio

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// maxPicture is the maximum size of a picture. A card is small, but feeds contain pictures for televisions.
	maxPicture = 8 << 20

	// pictureTimeout limits the download of a picture: a card can do without.
	pictureTimeout = 10 * time.Second

	// maxPictureRedirects is how many redirects are followed. Image services use them; no context key is sent.
	maxPictureRedirects = 3

	// maxAnswers is the number of responses for which pictures are fetched: the history of a few tabs.
	maxAnswers = 200
)

// pictureGate remembers the responses for which pictures may be fetched. A feed from the internet must not make this
// machine call addresses of its own network.
type pictureGate struct {
	mu      sync.Mutex
	answers []admitted
}

type admitted struct {
	id     string
	sample bool
	local  bool // the feed itself is on this machine or in its network
}

// admit records a response from an origin, and returns the id for fetching its pictures.
func (g *pictureGate) admit(sample bool, origin string) string {
	a := admitted{id: rand.Text(), sample: sample}
	if u, err := url.Parse(origin); err == nil && !sample {
		a.local = isLocal(u.Hostname())
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.answers = append(g.answers, a); len(g.answers) > maxAnswers {
		g.answers = g.answers[len(g.answers)-maxAnswers:]
	}
	return a.id
}

func (g *pictureGate) find(id string) (admitted, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.answers {
		if a.id == id {
			return a, true
		}
	}
	return admitted{}, false
}

// isLocal reports whether a host is on this machine or in a private network, judging by its name.
func isLocal(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && !isPublic(addr)
}

func isPublic(addr netip.Addr) bool {
	addr = addr.Unmap()
	return addr.IsGlobalUnicast() && !addr.IsPrivate()
}

// servePicture fetches a picture of a response, or generates that of a sample. It accepts only raster images: SVG can
// contain scripts.
func (s *Studio) servePicture(w http.ResponseWriter, r *http.Request) {
	from, ok := s.pictures.find(r.URL.Query().Get("answer"))
	if !ok {
		refuse(w, problem{Status: http.StatusNotFound, Detail: "The response with this picture is no longer kept. Send the request again."})
		return
	}
	u, err := url.Parse(r.URL.Query().Get("url"))
	if err == nil {
		err = checkTarget(u)
	}
	if err != nil {
		refuse(w, problem{Status: http.StatusUnprocessableEntity, Detail: "This is not the URL of a picture."})
		return
	}
	var body []byte
	if from.sample {
		number, found := strings.CutPrefix(u.Path, samplePicturePath)
		n, err := strconv.Atoi(strings.TrimSuffix(number, ".png"))
		if !found || err != nil || n < 0 {
			refuse(w, problem{Status: http.StatusNotFound, Detail: "There is no such sample picture."})
			return
		}
		body = samplePicture(n)
	} else if body, err = s.fetchPicture(r.Context(), u, from.local); err != nil {
		refuse(w, problem{Status: http.StatusBadGateway, Detail: sentence(err.Error())})
		return
	}
	kind := pictureType(body)
	if kind == "" {
		refuse(w, problem{Status: http.StatusUnsupportedMediaType, Detail: "This is not a PNG, JPEG, GIF, WebP or AVIF picture."})
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "private, max-age=600")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}

// pictureType detects the type of a raster image by its first bytes, whatever the server calls it.
func pictureType(body []byte) string {
	switch kind := http.DetectContentType(body); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	if len(body) > 12 && string(body[4:8]) == "ftyp" && (string(body[8:12]) == "avif" || string(body[8:12]) == "avis") {
		return "image/avif"
	}
	return ""
}

func (s *Studio) fetchPicture(ctx context.Context, u *url.URL, local bool) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pictureTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "image/*")
	transport := &http.Transport{ForceAttemptHTTP2: true, DisableKeepAlives: true}
	if given, ok := s.opts.Client.Transport.(*http.Transport); ok {
		transport = given.Clone()
		transport.DisableKeepAlives = true
	}
	if !local {
		// The address of a name is only known when it is dialled.
		dialer := &net.Dialer{Timeout: pictureTimeout, Control: func(_, address string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(address); err != nil || !isPublic(at.Addr()) {
				return errors.New("the picture is on this machine or in its network, and the feed is not")
			}
			return nil
		}}
		transport.DialContext = dialer.DialContext
		transport.Proxy = nil
	}
	defer transport.CloseIdleConnections()
	httpClient := &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxPictureRedirects {
			return errors.New("too many redirects")
		}
		return checkTarget(req.URL)
	}}
	res, err := httpClient.Do(req)
	if err != nil {
		var withURL *url.Error
		if errors.As(err, &withURL) {
			err = withURL.Err
		}
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the answer is %s", res.Status)
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, maxPicture+1))
	switch {
	case err != nil:
		return nil, err
	case len(body) > maxPicture:
		return nil, fmt.Errorf("the picture is larger than %d MiB", maxPicture>>20)
	}
	return body, nil
}

// Size of sample pictures: cheap to generate, large enough for a card.
const (
	sampleWidth  = 480
	sampleHeight = 270
)

// sampleColours are pairs of colours for sky and land.
var sampleColours = [][2]color.RGBA{
	{{0x2f, 0x6f, 0x86, 255}, {0x17, 0x3f, 0x52, 255}}, {{0xd2, 0x6a, 0x45, 255}, {0x8f, 0x38, 0x2b, 255}},
	{{0x6c, 0xa5, 0x9a, 255}, {0x2f, 0x66, 0x60, 255}}, {{0x7d, 0x5b, 0xa6, 255}, {0x4a, 0x33, 0x72, 255}},
	{{0x2a, 0x4a, 0x7d, 255}, {0x10, 0x20, 0x42, 255}}, {{0xc7, 0x6f, 0x86, 255}, {0x7f, 0x3c, 0x55, 255}},
	{{0xd9, 0xa4, 0x41, 255}, {0x8a, 0x5a, 0x1e, 255}}, {{0x59, 0x8a, 0x4c, 255}, {0x2b, 0x4f, 0x2a, 255}},
}

// samplePicture paints a landscape: a sky, a sun or moon, and hills, all derived from the number.
func samplePicture(n int) []byte {
	sky, land := sampleColours[n%len(sampleColours)][0], sampleColours[n%len(sampleColours)][1]
	mix := func(a, b color.RGBA, t float64) color.RGBA {
		t = math.Max(0, math.Min(1, t))
		part := func(x, y uint8) uint8 { return uint8(float64(x) + (float64(y)-float64(x))*t) }
		return color.RGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 255}
	}
	light := color.RGBA{255, 240, 214, 255}
	sunX, sunY, radius := float64(90+n*61%300), float64(60+n*37%70), float64(22+n*13%24)

	// A palette makes the picture one byte per dot, which takes a fraction of the time to encode.
	const skies, suns, hills = 160, 8, 3
	skyAt := func(y float64) color.RGBA { return mix(sky, light, y/sampleHeight*.55) }
	var colours color.Palette
	for i := range skies {
		colours = append(colours, skyAt(float64(i)*sampleHeight/skies))
	}
	for i := range suns {
		colours = append(colours, mix(skyAt(sunY), light, float64(i+1)/suns))
	}
	var tops [hills][sampleWidth]float64
	for hill := range hills {
		depth := float64(hill)
		colours = append(colours, mix(mix(sky, land, .5+.25*depth), color.RGBA{A: 255}, .12*depth))
		for x := range sampleWidth {
			wave := math.Sin(float64(x)/(70-15*depth)+float64(n)*1.7+depth*2) * (18 - 3*depth)
			tops[hill][x] = 150 + 38*depth + wave
		}
	}
	img := image.NewPaletted(image.Rect(0, 0, sampleWidth, sampleHeight), colours)
	for y := range sampleHeight {
		for x := range sampleWidth {
			c := y * skies / sampleHeight
			if inside := radius + 1 - math.Hypot(float64(x)-sunX, float64(y)-sunY); inside > 0 {
				c = skies + min(int(inside*suns), suns-1)
			}
			for hill := range hills {
				if float64(y) > tops[hill][x] {
					c = skies + suns + hill
				}
			}
			img.SetColorIndex(x, y, uint8(c))
		}
	}
	var out bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&out, img); err != nil { // writing to a Buffer cannot fail
		return nil
	}
	return out.Bytes()
}
