// Command yaml loads files with the YAML library and does nothing else: the lower bound for reading definitions.
//
//	yaml file...
package main

import (
	"log"
	"os"

	"go.yaml.in/yaml/v4"
)

func main() {
	for _, name := range os.Args[1:] {
		text, err := os.ReadFile(name)
		if err != nil {
			log.Fatal(err)
		}
		var node yaml.Node
		if err := yaml.Load(text, &node); err != nil {
			log.Fatalf("%s: %v", name, err)
		}
	}
}
