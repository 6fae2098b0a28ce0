//go:build race

package cli

import "os"

func init() {
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0") // of the commands that tests run, a second each
	}
}
