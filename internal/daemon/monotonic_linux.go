package daemon

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// monotonicMicroseconds returns the time that systemd uses to tell reloads apart.
func monotonicMicroseconds() string {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return "0"
	}
	return strconv.FormatInt(now.Nano()/1000, 10)
}
