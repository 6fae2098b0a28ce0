// Command lint checks the definition on standard input and prints what it finds.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"signpost/definition"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	file := definition.Parse("feeds.yaml", text)
	for _, finding := range definition.Lint(file) {
		fmt.Print(definition.Renderer{}.Render(file, finding))
	}
}
