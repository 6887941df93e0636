// Renders a chart as Helm's engine does, with the templates of Go and the functions of Sprig:
// main <chart> <release> [values.yaml].
// Source: https://github.com/helm/helm, pkg/engine.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type members = map[string]interface{}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func read(file string, options ...yaml.JSONOpt) members {
	text, err := os.ReadFile(file)
	must(err)
	found := members{}
	must(yaml.Unmarshal(text, &found, options...))
	return found
}

func merged(values, over members) members {
	for name, other := range over {
		one, isMap := values[name].(members)
		replacing, areMaps := other.(members)
		if isMap && areMaps {
			other = merged(one, replacing)
		}
		values[name] = other
	}
	return values
}

func main() {
	chart, release := os.Args[1], os.Args[2]
	exact := func(decoder *json.Decoder) *json.Decoder {
		decoder.UseNumber()
		return decoder
	}
	values := read(filepath.Join(chart, "values.yaml"), exact)
	if len(os.Args) > 3 {
		values = merged(values, read(os.Args[3]))
	}

	templates := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := templates.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	templates.Funcs(functions)

	files, err := filepath.Glob(filepath.Join(chart, "templates", "*"))
	must(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(err)
		template.Must(templates.New(filepath.Base(file)).Parse(string(text)))
	}
	root := members{
		"Release": members{"Name": release},
		"Chart":   members{"AppVersion": read(filepath.Join(chart, "Chart.yaml"))["appVersion"]},
		"Values":  values,
	}
	var made []string
	for _, file := range files {
		var text bytes.Buffer
		must(templates.ExecuteTemplate(&text, filepath.Base(file), root))
		if trimmed := strings.TrimSpace(text.String()); trimmed != "" {
			made = append(made, trimmed+"\n")
		}
	}
	fmt.Print(strings.Join(made, "---\n"))
}
