package cli

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"signpost/internal/daemon"
)

// loopback is a flag for an address that only this machine can reach.
type loopback struct{ value string }

func (l *loopback) String() string { return l.value }
func (l *loopback) Type() string   { return "string" }

func (l *loopback) Set(address string) error {
	const allowed = "the studio is for this machine alone: use 127.0.0.1, [::1] or localhost, and a port"
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("%q is not an address with a port; %s", address, allowed)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("%q is not on loopback; %s", address, allowed)
	}
	l.value = address
	return nil
}

// open listens on the address.
func (l *loopback) open() (net.Listener, error) {
	listener, err := daemon.Listen(l.value, 0)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%w; is another studio running? --listen 127.0.0.1:0 uses a free port", err)
	}
	return listener, err
}
