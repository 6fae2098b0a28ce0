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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"signpost"
	"signpost/host"
	"signpost/internal/httpurl"
)

const (
	// maxPicture is the maximum size of a picture. A card is small, but feeds contain pictures for televisions.
	maxPicture = 8 << 20

	// pictureTimeout limits the download of a picture: a card can do without.
	pictureTimeout = 10 * time.Second
)

// special are the address blocks of the IANA registries that are not on the internet, or lead to other addresses:
// shared and private networks, documentation, benchmarks, NAT64, 6to4, and what is reserved.
var special = prefixes("0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 " +
	"192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 " +
	"2001::/23 2001:db8::/32 2002::/16 3fff::/20")

// internet6 is the part of IPv6 from which addresses on the internet come.
var internet6 = netip.MustParsePrefix("2000::/3")

func prefixes(text string) (all []netip.Prefix) {
	for _, prefix := range strings.Fields(text) {
		all = append(all, netip.MustParsePrefix(prefix))
	}
	return all
}

// isPublic reports whether an address is on the internet.
func isPublic(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	if addr.Is6() && !internet6.Contains(addr) {
		return false
	}
	return addr.IsValid() && !slices.ContainsFunc(special, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// mayLoad reports whether a picture of a feed may be loaded from a host at an address: a feed must not make this
// machine call other machines of its network, or other services on it. The feed's own host was called already.
func mayLoad(feedHost, pictureHost string, at netip.Addr) bool {
	if strings.Contains(pictureHost, ":") {
		pictureHost = "[" + pictureHost + "]" // as in a URL
	}
	return host.Equal(feedHost, pictureHost) || isPublic(at)
}

// picture fetches a picture of a response. It accepts only raster images: SVG can contain scripts.
func (s *Studio) picture(c call, _ struct{}) (any, error) {
	query := c.r.URL.Query()
	u, err := url.Parse(query.Get("url"))
	if err != nil || checkTarget(u) != nil {
		return nil, errors.New("this is not the URL of a picture")
	}
	body, err := s.fetchPicture(c.r.Context(), u, signpost.CutURL(query.Get("feed")).Hostname())
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

func (s *Studio) fetchPicture(ctx context.Context, u *url.URL, feedHost string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, pictureTimeout)
	defer cancel()
	req := (&http.Request{Method: http.MethodGet, URL: u, Header: http.Header{"Accept": {"image/*"}}}).WithContext(ctx)
	transport := &http.Transport{ForceAttemptHTTP2: true}
	if given, ok := s.opts.Client.Transport.(*http.Transport); ok {
		transport = given.Clone()
	}
	defer transport.CloseIdleConnections()
	transport.Proxy = nil
	transport.DialContext = func(ctx context.Context, network, target string) (net.Conn, error) {
		name, _, err := net.SplitHostPort(target)
		if err != nil {
			return nil, err
		}
		// The address of a name is only known when it is dialled.
		dialer := &net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
			if at, err := netip.ParseAddrPort(address); err != nil || !mayLoad(feedHost, name, at.Addr()) {
				return errors.New("the picture is on this machine or in its network, but not on the host of the feed")
			}
			return nil
		}}
		return dialer.DialContext(ctx, network, target)
	}
	res, err := (&http.Client{Transport: transport}).Do(req)
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
