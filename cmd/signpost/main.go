// Command signpost publishes and checks endpoints manifests.
package main

import (
	"os"

	"signpost/internal/cli"
)

func main() {
	c := cli.CLI{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, LookupEnv: os.LookupEnv, Environ: os.Environ}
	os.Exit(c.Main(os.Args[1:]))
}
