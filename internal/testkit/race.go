//go:build race

package testkit

import "os"

func init() {
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // saves a second for each command that tests run
	}
}
