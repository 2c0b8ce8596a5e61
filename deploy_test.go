package countersign_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
	"github.com/countersign/countersign/internal/web"
	"go.yaml.in/yaml/v3"
)

// The manuals are followed by tests, which run their configurations of web servers. The files
// in deploy have the same text after their first line, which names the manual.
func TestConfigurationsInDeployAreThoseOfTheManuals(t *testing.T) {
	for _, language := range []string{"nginx", "apache", "caddy"} {
		for _, service := range []string{"store", "addon"} {
			file := filepath.Join("deploy", language, service+".conf")
			block := ""
			for _, f := range fences(t, filepath.Join("docs", service+".md")) {
				if f.language == language {
					block = f.text
				}
			}
			if _, text, _ := strings.Cut(readText(t, file), "\n"); block == "" || text != block {
				t.Errorf("%s differs from the block of docs/%s.md; copy the block after the first line", file, service)
			}
		}
	}
}

// The commands of the containers exist, with their flags, and Caddy accepts its configuration.
func TestTheContainersOfComposeAreCalledAsTheyExpect(t *testing.T) {
	t.Parallel()
	dbtest.Long(t)
	dbtest.NeedProgram(t, "sh")
	r := newReader(t, "deploy/compose.yaml", newPrograms(t))
	var compose struct {
		Services map[string]struct{ Command, Secrets []string }
		Secrets  map[string]any
	}
	must.Do(t, yaml.Unmarshal([]byte(readText(t, r.page)), &compose))
	for _, name := range []string{"store", "addon-update", "addon"} {
		service := compose.Services[name]
		r.lookUp("countersign " + strings.Join(service.Command, " "))
		if len(service.Command) < 2 || len(service.Secrets) != 1 || compose.Secrets[service.Secrets[0]] == nil {
			t.Errorf("%s: %+v", name, service)
		}
	}
	t.Run("caddy", func(t *testing.T) {
		dbtest.NeedProgram(t, "caddy")
		r.shell("caddy validate --adapter caddyfile --config '" + absolute(t, "deploy/caddy/compose.conf") + "' 2>&1")
	})
}

// A container that is stopped may finish its requests, and has room for what verifies a backup: not its memory.
func TestTheContainersOfComposeHaveTimeAndRoom(t *testing.T) {
	var compose struct {
		Services map[string]struct {
			Grace       string `yaml:"stop_grace_period"`
			Environment map[string]string
			Volumes     []string
		}
	}
	must.Do(t, yaml.Unmarshal([]byte(readText(t, "deploy/compose.yaml")), &compose))
	for _, name := range []string{"store", "addon-update", "addon"} {
		s := compose.Services[name]
		if grace, err := time.ParseDuration(s.Grace); err != nil || grace < 2*web.StopGrace {
			t.Errorf("%s: a stop is killed after %q, and waits %s for requests alone", name, s.Grace, web.StopGrace)
		}
		if room := s.Environment["TMPDIR"]; len(s.Volumes) != 1 || room == "" || !strings.HasSuffix(s.Volumes[0], ":"+room) {
			t.Errorf("%s: temporary files go to %q, and its volumes are %q", name, room, s.Volumes)
		}
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path = must.Get(filepath.Abs(path))(t)
	return path
}
