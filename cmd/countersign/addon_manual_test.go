package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/addon/input"
	"github.com/countersign/countersign/internal/dbtest"
)

// manualBlocks are the fenced blocks of docs/addon.md in one language.
func manualBlocks(t *testing.T, language string) []string {
	t.Helper()
	manual, err := os.ReadFile("../../docs/addon.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(manual), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

func TestTheManualsCommandsAndFlagsExist(t *testing.T) {
	ran := 0
	for _, block := range manualBlocks(t, "sh") {
		for line := range strings.SplitSeq(block, "\n") {
			words, ours := strings.CutPrefix(line, "countersign ")
			if !ours {
				continue
			}
			ran++
			if r := command(t, t.TempDir(), append(strings.Fields(words), "--help")...); r.code != 0 || !strings.Contains(r.out, "\nUsage:\n") {
				t.Errorf("%s: exit %d, %s", line, r.code, r.err)
			}
		}
	}
	if ran < 20 {
		t.Errorf("only %d commands were found in the manual", ran)
	}
}

func TestTheCommandsThatRepairProblemsExist(t *testing.T) {
	for _, code := range input.ProblemCodes() {
		repair := input.Problem{Code: code, Key: "appName", Package: 3}.Command()
		name := regexp.MustCompile(`^(countersign( [a-z-]+\b)+) [0-9A-Za-z]`).FindStringSubmatch(repair)[1]
		r := command(t, t.TempDir(), append(strings.Fields(repair)[1:], "--help")...)
		if r.code != 0 || !strings.Contains(r.out, "\nUsage:\n  "+name+" ") {
			t.Errorf("%s: %s: exit %d, %s", code, repair, r.code, r.out)
		}
	}
}

func TestTheManualsSignedCallsWork(t *testing.T) {
	t.Parallel()
	dbtest.NeedProgram(t, "php")
	env := environment{envAddonData: t.TempDir()}
	if r := commandIn(t, env, "addon", "update"); r.code != 0 {
		t.Fatal(r.err)
	}
	var pair struct {
		Key    string `json:"api_key"`
		Secret string `json:"api_secret"`
	}
	if err := json.Unmarshal([]byte(commandIn(t, env, "addon", "api", "reveal", "1", "--json").out), &pair); err != nil {
		t.Fatal(err)
	}
	s := startServer(t, env, "addon", "serve")
	blocks := manualBlocks(t, "php")
	if len(blocks) != 1 {
		t.Fatalf("%d PHP programs, want 1", len(blocks))
	}
	c := exec.Command("php")
	c.Stdin = strings.NewReader(blocks[0])
	c.Env = append(os.Environ(), "SITE="+s.said["addon_url"], "API_KEY="+pair.Key, "API_SECRET="+pair.Secret)
	if out, err := c.CombinedOutput(); err != nil || string(out) != "success 2\n" {
		t.Errorf("it prints %q, %v", out, err)
	}
	if _, body := fetch(t, s.said["addon_url"]+"/api-addons/app/settings"); !strings.Contains(body, `"appName":"Tuneful"`) {
		t.Errorf("settings after it: %s", body)
	}
}
