// Command steps runs command lines of Signpost and prints how many steps each takes. A step is a basic block of the
// program that is executed, so the number does not depend on the machine or on what else it does. Build it with
// -cover -covermode=atomic, and -coverpkg for the packages whose steps count. Every line of standard input is a command
// line as a JSON array, of which a last argument <file is the command's standard input; its line of output has the steps
// and the exit status.
package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime/coverage"
	"strings"

	"signpost/internal/cli"
)

func main() {
	in := json.NewDecoder(bufio.NewReader(os.Stdin))
	for {
		var args []string
		if err := in.Decode(&args); err == io.EOF {
			return
		} else if err != nil {
			fail(err)
		}
		var input []byte
		if file, ok := strings.CutPrefix(args[len(args)-1], "<"); ok {
			var err error
			if input, err = os.ReadFile(file); err != nil {
				fail(err)
			}
			args = args[:len(args)-1]
		}
		if err := coverage.ClearCounters(); err != nil {
			fail(err)
		}
		c := cli.CLI{Stdin: bytes.NewReader(input), Stdout: io.Discard, Stderr: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }}
		status := c.Main(args)
		var counters bytes.Buffer
		if err := coverage.WriteCounters(&counters); err != nil {
			fail(err)
		}
		steps, err := sum(counters.Bytes())
		if err != nil {
			fail(err)
		}
		fmt.Println(steps, status)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "steps:", err)
	os.Exit(1)
}

// sum adds up the counters of a counter file, whose format is that of internal/coverage: a header; a segment of functions
// with the tables that precede them; and a footer. All numbers behind the tables are ULEB128.
func sum(file []byte) (uint64, error) {
	const header, segment, uleb128 = 32, 16, 2
	if len(file) < header+segment || !bytes.HasPrefix(file, []byte("\x00\x63\x77\x6d")) || file[24] != uleb128 {
		return 0, fmt.Errorf("%d bytes of counters in a format that is not known", len(file))
	}
	functions := binary.LittleEndian.Uint64(file[header:])
	tables := int(binary.LittleEndian.Uint32(file[header+8:]) + binary.LittleEndian.Uint32(file[header+12:]))
	tables = (tables + 3) &^ 3 // padding
	rest := file[header+segment+tables:]
	var total uint64
	var failed error
	next := func() uint64 {
		n, size := binary.Uvarint(rest)
		if size <= 0 {
			failed = fmt.Errorf("counters end early")
			return 0
		}
		rest = rest[size:]
		return n
	}
	for ; functions > 0 && failed == nil; functions-- {
		counters := next()
		next() // the package
		next() // the function
		for ; counters > 0 && failed == nil; counters-- {
			total += next()
		}
	}
	return total, failed
}
