package studio

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
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
	body, why := s.picture(r)
	kind := pictureType(body)
	switch {
	case why != nil:
		refuse(w, why)
	case kind == "":
		refuse(w, failed(http.StatusUnsupportedMediaType, "This is not a PNG, JPEG, GIF, WebP or AVIF picture.", ""))
	default:
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "private, max-age=600")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	}
}

func (s *Studio) picture(r *http.Request) ([]byte, *problem) {
	from, ok := s.pictures.find(r.URL.Query().Get("answer"))
	if !ok {
		return nil, failed(http.StatusNotFound, "The response with this picture is no longer kept. Send the request again.", "")
	}
	u, err := url.Parse(r.URL.Query().Get("url"))
	if err != nil || checkTarget(u) != nil {
		return nil, failed(http.StatusUnprocessableEntity, "This is not the URL of a picture.", "")
	}
	if from.sample {
		number, found := strings.CutPrefix(u.Path, samplePicturePath)
		n, err := strconv.Atoi(strings.TrimSuffix(number, ".png"))
		if !found || err != nil || n < 0 {
			return nil, failed(http.StatusNotFound, "There is no such sample picture.", "")
		}
		return samplePicture(n), nil
	}
	body, err := s.fetchPicture(r.Context(), u, from.local)
	if err != nil {
		return nil, failed(http.StatusBadGateway, sentence(err.Error()), "")
	}
	return body, nil
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
