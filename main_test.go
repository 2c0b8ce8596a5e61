package countersign_test

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
)

func TestMain(m *testing.M) {
	dbtest.Setup()
	os.Exit(withProgramFolder(m))
}

// programFolder is where buildProgram puts countersign.
var programFolder string

func withProgramFolder(m *testing.M) int {
	var err error
	if programFolder, err = os.MkdirTemp("", "countersign-program-"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(programFolder)
	return m.Run()
}

// buildProgram builds countersign for all tests that run it. It does so by what README.md tells
// its reader to type, so that the reader finds it built.
var buildProgram = sync.OnceValue(func() error {
	install := exec.Command("go", "install", "./cmd/countersign")
	install.Env = append(os.Environ(), "GOBIN="+programFolder)
	out, err := install.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})
