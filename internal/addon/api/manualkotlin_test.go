package api_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// kotlinLibraries is where npm puts the compiler of Kotlin.
const kotlinLibraries = "../../../e2e/node_modules/kotlin-compiler/lib"

// The Kotlin of the manual compiles without a warning, against stubs of the libraries of Android.
func TestTheManualsKotlinCompiles(t *testing.T) {
	t.Parallel()
	dbtest.Long(t)
	dbtest.NeedProgram(t, "java")
	if _, err := os.Stat(kotlinLibraries); err != nil {
		dbtest.Skip(t, err)
	}
	dir := t.TempDir()
	files := must.Get(filepath.Glob("testdata/kotlin/*.kt"))(t)
	for _, block := range manualBlocks(t, "kotlin") {
		name, _, _ := strings.Cut(strings.TrimPrefix(block, "// "), ":")
		files = append(files, filepath.Join(dir, name))
		must.Do(t, os.WriteFile(files[len(files)-1], []byte(block), 0o600))
	}
	path := func(names ...string) string {
		for i, name := range names {
			names[i] = filepath.Join(kotlinLibraries, name+".jar")
		}
		return strings.Join(names, string(os.PathListSeparator))
	}
	java := exec.CommandContext(t.Context(), "java", append([]string{
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
		"-cp", path("kotlin-compiler", "kotlin-stdlib", "kotlin-reflect", "annotations-13.0", "kotlin-script-runtime", "kotlinx-coroutines-core-jvm", "kotlin-daemon-client"),
		"org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-Werror", "-no-stdlib", "-no-reflect",
		"-cp", path("kotlin-stdlib", "kotlinx-coroutines-core-jvm"), "-d", filepath.Join(dir, "out"),
	}, files...)...)
	if out, err := java.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
