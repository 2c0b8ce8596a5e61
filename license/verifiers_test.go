package license_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign/countersign/internal/dbtest"
	"github.com/countersign/countersign/internal/must"
)

// The verifiers that people copy out of docs/license.md are run here, as they are printed there, on all vectors.

// A verifier is one of them: how the manual marks it, and what runs it.
type verifier struct {
	fence   string // the language of its block in the manual
	file    string // what it is saved as
	program string
	able    []string // a command that fails when the program is too old for it
	runner  string   // reads vectors.json, prints the codes of all vectors as a JSON array
}

var verifiers = []verifier{
	{
		fence: "ts", file: "countersign.mjs", program: "node",
		able: []string{"node", "-e", `crypto.subtle.generateKey("Ed25519", false, ["sign"]).catch(() => process.exit(1))`},
		runner: `
import { readFileSync } from 'node:fs'
import { openLicense, LicenseError } from './countersign.mjs'
const { jwks, vectors } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const codes = []
for (const v of vectors) {
  try {
    const host = /[^\x00-\x7f]/.test(v.host) ? new URL('https://' + v.host).hostname : v.host
    const license = await openLicense(v.license, host, jwks, v.at)
    codes.push(license.id && license.itemId && license.domain ? '' : 'nothing of the license is returned')
  } catch (e) {
    codes.push(e instanceof LicenseError ? e.code : 'crashes: ' + e)
  }
}
console.log(JSON.stringify(codes))
`,
	},
	{
		fence: "php", file: "countersign.php", program: "php",
		able: []string{"php", "-r", `exit(PHP_VERSION_ID >= 80100 && extension_loaded("sodium") && extension_loaded("intl") ? 0 : 1);`},
		runner: `<?php
error_reporting(E_ALL);
set_error_handler(function ($n, $message) { throw new ErrorException($message); });
require __DIR__ . '/countersign.php';
$file = json_decode(file_get_contents($argv[1]), true);
$codes = [];
foreach ($file['vectors'] as $v) {
    try {
        $claims = countersign_open_license($v['license'], $v['host'], $file['jwks'], $v['at']);
        $codes[] = isset($claims['jti'], $claims['item_id']) ? '' : 'nothing of the license is returned';
    } catch (CountersignLicenseError $e) {
        $codes[] = $e->reason;
    } catch (Throwable $e) {
        $codes[] = 'crashes: ' . $e->getMessage();
    }
}
echo json_encode($codes);
`,
	},
}

// wordForWord are the codes that the verifiers have in common with the Go package.
var wordForWord = map[string]bool{
	"": true, "license_not_yet_valid": true, "license_expired": true, "license_wrong_domain": true,
}

func TestTheManualsVerifiersAgreeOnAllVectors(t *testing.T) {
	for _, v := range verifiers {
		t.Run(v.program, func(t *testing.T) {
			needVerifier(t, v)
			file := readVectors(t)
			codes := runVerifier(t, v)
			if len(codes) != len(file.Vectors) {
				t.Fatalf("%d codes for %d vectors", len(codes), len(file.Vectors))
			}
			for i, want := range file.Vectors {
				refused := strings.HasPrefix(codes[i], "license_")
				if wordForWord[want.Error] && codes[i] != want.Error || want.Error != "" && !refused {
					t.Errorf("%s: %q, want %q", want.Name, codes[i], want.Error)
				}
			}
		})
	}
}

// needVerifier skips on a machine that has no program for the verifier, or one too old.
func needVerifier(t *testing.T, v verifier) {
	t.Helper()
	dbtest.NeedProgram(t, v.program)
	if err := exec.Command(v.able[0], v.able[1:]...).Run(); err != nil {
		dbtest.Skip(t, fmt.Errorf("this %s lacks Ed25519, or the extension intl: %w", v.program, err))
	}
}

func runVerifier(t *testing.T, v verifier) (codes []string) {
	t.Helper()
	dir := t.TempDir()
	runner := filepath.Join(dir, "run"+filepath.Ext(v.file))
	for path, text := range map[string]string{filepath.Join(dir, v.file): manualBlock(t, v.fence), runner: v.runner} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
	}
	vectors := must.Get(filepath.Abs(vectorsFile))(t)
	out, err := exec.Command(v.program, runner, vectors).Output()
	if err == nil {
		err = json.Unmarshal(out, &codes)
	}
	if err != nil {
		var stderr []byte
		if exit, ok := err.(*exec.ExitError); ok {
			stderr = exit.Stderr
		}
		t.Fatalf("%v\n%s\n%s", err, out, stderr)
	}
	return codes
}

// manualBlock is the first block of a language in the manual.
func manualBlock(t *testing.T, fence string) string {
	t.Helper()
	text := must.Get(os.ReadFile("../docs/license.md"))(t)
	_, rest, found := strings.Cut(string(text), "\n```"+fence+"\n")
	block, _, closed := strings.Cut(rest, "\n```\n")
	if !found || !closed {
		t.Fatalf("there is no block of %s in docs/license.md", fence)
	}
	return block
}

func TestTheManualNamesEveryRefusal(t *testing.T) {
	text := must.Get(os.ReadFile("../docs/license-reference.md"))(t)
	for _, v := range makeVectors().Vectors {
		if v.Error != "" && !strings.Contains(string(text), "| `"+v.Error+"` |") {
			t.Errorf("%s is not in docs/license-reference.md", v.Error)
		}
	}
}
