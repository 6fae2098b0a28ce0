package studio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"signpost/internal/httpurl"
)

const (
	// maxPicture is the maximum size of a picture. A card is small, but feeds contain pictures for televisions.
	maxPicture = 8 << 20

	// pictureTimeout limits the download of a picture: a card can do without.
	pictureTimeout = 10 * time.Second

	// maxPictureRedirects is how many redirects are followed. Image services use them; no context key is sent.
	maxPictureRedirects = 3
)

func isPublic(addr netip.Addr) bool {
	addr = addr.Unmap()
	return addr.IsGlobalUnicast() && !addr.IsPrivate()
}

// picture fetches a picture of a response. It accepts only raster images: SVG can contain scripts. A feed from the internet
// must not make this machine call addresses of its own network, only one that is local itself.
func (s *Studio) picture(c call) (any, error) {
	query := c.r.URL.Query()
	u, err := url.Parse(query.Get("url"))
	if err != nil || checkTarget(u) != nil {
		return nil, errors.New("this is not the URL of a picture")
	}
	body, err := s.fetchPicture(c.r.Context(), u, query.Get("local") == "true")
	if err != nil {
		return nil, failed(http.StatusBadGateway, sentence(err.Error()), "")
	}
	kind := pictureType(body)
	if kind == "" {
		return nil, failed(http.StatusUnsupportedMediaType, "This is not a PNG, JPEG, GIF, WebP or AVIF picture.", "")
	}
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "private, max-age=600")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body)
	}, nil
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
	req := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{"Accept": {"image/*"}}}).WithContext(ctx)
	transport := &http.Transport{ForceAttemptHTTP2: true}
	if given, ok := s.opts.Client.Transport.(*http.Transport); ok {
		transport = given.Clone()
	}
	defer transport.CloseIdleConnections()
	if !local {
		// The address of a name is only known when it is dialled.
		dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(address); err != nil || !isPublic(at.Addr()) {
				return errors.New("the picture is on this machine or in its network, and the feed is not")
			}
			return nil
		}}
		transport.DialContext = dialer.DialContext
		transport.Proxy = nil
	}
	httpClient := &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > maxPictureRedirects {
			return errors.New("too many redirects")
		}
		return checkTarget(req.URL)
	}}
	res, err := httpClient.Do(req)
	if err != nil {
		return nil, httpurl.WithoutURL(err)
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
