package daemon

import (
	"fmt"
	"net"
	"strings"
)

// Notifier tells systemd about the state of the service, as sd_notify(3) does. It is the path of the socket that
// systemd names in NOTIFY_SOCKET; empty means that nobody wants to know.
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

// notify tells the service manager a state, with a status for people.
func (d *Daemon) notify(state string) {
	status := fmt.Sprintf("STATUS=serving %d manifests", len(d.Routes()))
	if len(d.Routes()) == 0 {
		status = "STATUS=waiting for the first definition"
	}
	if err := d.config.Notify.send(state + "\n" + status); err != nil {
		d.config.Log.Error("the service manager cannot be told", "error", err)
	}
}
