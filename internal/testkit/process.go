package testkit

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Ports for FreeAddress: below those that the kernel gives to connections, which would take one before a program
// listens.
const firstPort, ports = 12000, 20000

// lastPort counts the ports that were given out. It begins elsewhere in each process, since packages are tested side by
// side.
var lastPort atomic.Int64

func init() { lastPort.Store(rand.Int64N(ports)) }

// FreeAddress returns an unused loopback address, which no other test of this process gets.
func FreeAddress(t testing.TB) string {
	t.Helper()
	for range ports {
		address := fmt.Sprintf("127.0.0.1:%d", firstPort+lastPort.Add(1)%ports)
		if l, err := net.Listen("tcp", address); err == nil {
			l.Close()
			return address
		}
	}
	t.Fatal("there is no free port")
	return ""
}

// Process is a program that runs until the test ends.
type Process struct {
	*exec.Cmd
	Log  Buffer        // standard output and standard error
	Done chan struct{} // closed when the program has ended
}

// Start runs a program until the end of the test, and waits until it listens on an address.
func Start(t testing.TB, address string, cmd *exec.Cmd) *Process {
	t.Helper()
	name := filepath.Base(cmd.Path)
	p := &Process{Cmd: cmd, Done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &p.Log, &p.Log
	OK(t, cmd.Start())
	go func() { cmd.Wait(); close(p.Done) }()
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-p.Done:
		case <-time.After(Patience):
			cmd.Process.Kill()
			<-p.Done
		}
		if t.Failed() {
			t.Logf("%s printed:\n%s", name, p.Log.String())
		}
	})
	Eventually(t, name+" listens on "+address, func() bool {
		select {
		case <-p.Done:
			t.Fatalf("%s ended: %v", name, cmd.ProcessState)
		default:
		}
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return p
}

// Get sends a request with headers, given as names and values in turn, and returns the response and its body. It does
// not follow redirects if client is nil.
func Get(t testing.TB, client *http.Client, url string, header ...string) (*http.Response, string) {
	t.Helper()
	if client == nil {
		client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	}
	req := Must(http.NewRequest(http.MethodGet, url, nil))(t)
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
		req.Header.Set(header[i], header[i+1])
	}
	res := Must(client.Do(req))(t)
	defer res.Body.Close()
	return res, string(Must(io.ReadAll(res.Body))(t))
}
