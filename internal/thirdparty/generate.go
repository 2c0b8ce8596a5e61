//go:build ignore

// Writes modules.txt: the licenses of Go's standard library and of all modules that the
// binary is built from on any of its platforms, equal texts once.
package main

import (
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

var isLicense = regexp.MustCompile(`(?i)^(licen[sc]e|copying|notice)[-.\w]*$`)

func main() {
	folders := map[string]string{"Go, its standard library": runtime.GOROOT()}
	for _, platform := range []string{"linux", "darwin", "windows"} {
		addModules(folders, platform)
	}
	covered := map[string][]string{} // by the text of the license
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		text := licenses(folders[name])
		if text == "" {
			log.Fatalf("%s: no license in %s", name, folders[name])
		}
		covered[text] = append(covered[text], name)
	}
	var parts []string
	for text, names := range covered {
		parts = append(parts, strings.Join(names, "\n")+"\n\n"+text)
	}
	slices.Sort(parts)
	if err := os.WriteFile("modules.txt", []byte(strings.Join(parts, "\n\n===============================================================================\n\n")+"\n"), 0o644); err != nil {
		log.Fatal(err)
	}
}

// addModules adds the folder of each module by its name and version.
func addModules(folders map[string]string, platform string) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "../../cmd/countersign")
	list.Env = append(os.Environ(), "GOOS="+platform, "CGO_ENABLED=0")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if name, folder, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			folders[name] = folder
		}
	}
}

// licenses returns the texts of a folder's license files.
func licenses(folder string) string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		log.Fatal(err)
	}
	var texts []string
	for _, e := range entries {
		if e.IsDir() || !isLicense.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			log.Fatal(err)
		}
		texts = append(texts, strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	return strings.Join(texts, "\n\n")
}
