package daemon

import (
	"fmt"
	"net"
	"strings"
)

// Notifier notifies systemd of the state of the service, like sd_notify(3). It is the path of the socket in
// NOTIFY_SOCKET; empty disables it.
type Notifier string

// send sends a state, such as READY=1.
func (n Notifier) send(state string) error {
	if n == "" {
		return nil
	}
	name := string(n)
	if strings.HasPrefix(name, "@") {
		name = "\x00" + name[1:] // an abstract socket
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.Write([]byte(state))
	return err
}

// notify sends a state to the service manager, with a human-readable status.
func (d *Daemon) notify(state string) {
	status := fmt.Sprintf("STATUS=serving %d manifests", len(d.Routes()))
	if len(d.Routes()) == 0 {
		status = "STATUS=waiting for the first definition"
	}
	if err := d.config.Notify.send(state + "\n" + status); err != nil {
		d.config.Log.Error("cannot notify the service manager", "error", err)
	}
}
