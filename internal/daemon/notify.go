package daemon

import (
	"fmt"
	"net"
)

// notify tells systemd the state of the service, such as READY=1, with a human-readable status, like sd_notify(3).
func (d *Daemon) notify(state string) {
	if d.NotifySocket == "" {
		return
	}
	status := fmt.Sprintf("STATUS=serving %d manifests", len(d.Routes()))
	if len(d.Routes()) == 0 {
		status = "STATUS=waiting for the first definition"
	}
	conn, err := net.Dial("unixgram", d.NotifySocket)
	if err == nil {
		_, err = fmt.Fprint(conn, state+"\n"+status)
		conn.Close()
	}
	if err != nil {
		d.Log.Error("cannot notify the service manager", "error", err)
	}
}
